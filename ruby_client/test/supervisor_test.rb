# frozen_string_literal: true

require 'test_helper'

# How lost workers are replaced, and what is said about it.
class SupervisorTest < BridgeTest
  PATIENT = { deadline: 30, preview_deadline: 30 }.freeze

  def setup
    super
    @changes = []
  end

  def test_a_worker_is_spawned_by_the_first_call_and_not_before
    client = client(**PATIENT)

    assert_equal [:idle, nil, 0], client.status.values_at(:state, :pid, :spawned)
    client.ui_preview('text')

    assert_equal [:ready, 1, 0], client.status.values_at(:state, :spawned, :restarts)
  end

  def test_too_many_losses_leave_the_echo_alone_until_the_cool_down_has_passed
    client = logged(Support.worker('ExitsAtStart'), restarts: 3, pause: 0, cool_down: 0.4, **PATIENT)
    5.times { assert_equal 'text', client.ui_preview('text') }

    assert_equal [:given_up, 3], client.status.values_at(:state, :spawned)
    sleep(0.4)
    client.ui_preview('text')

    assert_equal 5, client.status[:spawned]
  end

  def test_between_two_restarts_ruby_answers_without_a_wait
    client = logged(Support.worker('ExitsAtStart'), pause: 3600, **PATIENT)
    client.ui_preview('text')

    assert_equal 2, client.status[:spawned]
    100.times { assert_equal 'text', client.ui_preview('text') }
    assert_equal [2, 101], client.status.values_at(:spawned, :fallbacks)
  end

  def test_a_logger_hears_of_each_change_once
    client = logged(restarts: 2, pause: 0, cool_down: 3600, **PATIENT)
    10.times { client.ui_preview('text') }
    2.times do
      Process.kill(:KILL, client.status[:pid])
      10.times { client.ui_preview('text') }
    end
    client.stop
    10.times { client.ui_preview('text') }

    assert_equal %i[ready lost ready given_up stopped], (@changes.map { |change| change[:state] })
    assert_equal [nil, 'the worker closed its output'], (@changes.first(2).map { |change| change[:reason] })
  end

  def test_a_logger_hears_of_refused_completions_once_for_each_reason
    client = logged(REAL_WORKER, **PATIENT)
    3.times { |number| client.tool_completed('text', name: 'a', session_id: "../#{number}", call_id: 'c') }
    3.times { client.tool_completed('text', name: 'a', session_id: 's', call_id: '') }

    assert_equal %i[ready refused refused], (@changes.map { |change| change[:state] })
    assert_match(/session_id: .+/, @changes[1][:reason])
    assert_match(/call_id: .+/, @changes[2][:reason])
    assert_equal [:ready, 6], client.status.values_at(:state, :fallbacks)
  end

  def test_a_logger_hears_of_results_that_are_too_large_once
    client = logged(REAL_WORKER, limits: { request_max_bytes: 1024 }, **PATIENT)
    client.connect
    3.times { |number| client.tool_completed('x' * (2000 + number), name: 'a') }

    assert_equal %i[ready refused], (@changes.map { |change| change[:state] })
  end

  def test_a_program_that_cannot_be_started_is_reported_once_and_given_up
    client = logged(NO_WORKER, pause: 0, **PATIENT)
    20.times { client.ui_preview('text') }

    assert_equal %i[lost given_up], (@changes.map { |change| change[:state] })
    assert_match(/cannot be started/, @changes.first[:reason])
    assert_equal 20, client.status[:fallbacks]
  end

  def test_a_logger_of_ruby_gets_warnings
    said = StringIO.new
    client = client(NO_WORKER, logger: Logger.new(said))
    client.ui_preview('text')

    assert_match(/WARN.*rind_bridge: worker lost: the worker cannot be started/, said.string)
  end

  def test_a_logger_of_ruby_hears_of_beginning_and_end_as_information
    said = StringIO.new
    client = client(logger: Logger.new(said), **PATIENT)
    client.connect
    client.stop

    assert_match(/\AI, .*INFO.*worker ready\nI, .*INFO.*worker stopped\n\z/, said.string)
  end

  def test_a_worker_of_another_version_is_told_once
    client = logged(Support.worker('IsAnotherVersion'), **PATIENT)
    client.connect
    Process.kill(:KILL, client.status[:pid])
    client.ui_preview('text')

    assert_equal %i[ready other_version lost ready], (@changes.map { |change| change[:state] })
    assert_match(/worker is 0\.0\.1, this gem #{RindBridge::VERSION}/, @changes[1][:reason])
  end

  def test_a_worker_of_another_version_is_told_on_stderr_when_there_is_no_logger
    _, said = capture_io { client(Support.worker('IsAnotherVersion'), logger: nil, **PATIENT).connect }

    assert_match(/\Arind_bridge: worker other_version: .*0\.0\.1/, said)
  end

  def test_stop_ends_the_worker_and_starts_no_other
    client = client(**PATIENT)
    client.connect
    pid = client.status[:pid]
    2.times { client.stop }

    refute running?(pid)
    assert_equal 'text', client.ui_preview('text')
    assert_predicate client.tool_completed('text', name: 'a'), :degraded?
    assert_equal [:stopped, nil, 1], client.status.values_at(:state, :pid, :spawned)
  end

  def test_a_worker_is_asked_to_shut_down_before_it_is_ended
    path = File.join(@home, 'methods')
    client = client(Support.worker('WritesDownMethods', path), **PATIENT)
    client.ui_preview('text')
    client.stop

    assert_equal %w[initialize ui_preview shutdown], File.readlines(path, chomp: true)
  end

  def test_the_real_worker_ends_in_order
    client = client(REAL_WORKER, stop_grace: 30, **PATIENT)

    assert client.connect
    client.stop
    assert_nil client.status[:last_error]
  end

  private

  def logged(command = Support.worker, **settings)
    client(command, logger: @changes.method(:<<), **settings)
  end
end
