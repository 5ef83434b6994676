# frozen_string_literal: true

require 'test_helper'
require 'timeout'

# The oracle's own life: it forks, kills threads, runs out of time, replaces itself and ends; the worker copes.
class LifeTest < BridgeTest
  RESTARTS = ENV['BRIDGE_CHAOS'] == 'full' ? 1000 : 50
  PATIENT = { deadline: 30, preview_deadline: 30 }.freeze
  FREE = { restarts: 1_000_000, pause: 0 }.freeze

  def test_a_forked_child_gets_a_worker_of_its_own_and_the_parents_lives_on
    client = connected
    parents = client.status[:pid]
    childs, text = in_child { [client.ui_preview('in the child'), client.status[:pid], client.stop].values_at(1, 0) }

    assert_equal 'in the child', text
    refute_equal parents, childs
    refute running?(childs)
    assert_answered_by(parents, client)
  end

  def test_a_forked_child_that_never_calls_leaves_the_parents_worker_alone
    client = connected
    parents = client.status[:pid]
    in_child { client.stop }

    assert_answered_by(parents, client)
  end

  def test_a_child_forked_while_another_thread_is_inside_a_call_can_call
    client = connected(Support.worker('AnswersLate', 0.5))
    calling = Thread.new { client.ui_preview('slow') }
    sleep(0.1)
    text = in_child { client.ui_preview('in the child').tap { client.stop } }

    assert_equal 'in the child', text
    assert_equal 'slow', calling.value
  end

  def test_the_parent_can_end_its_worker_in_order_while_a_forked_child_lives
    client = connected
    reading, writing = IO.pipe
    child = fork do
      writing.close
      reading.read
      exit!(0)
    end
    pid = client.status[:pid]
    client.stop

    refute running?(pid)
    [reading, writing].each(&:close)
    Process.wait(child)
  end

  def test_a_daemon_gets_a_worker_of_its_own
    said = Support.run_ruby(<<~'PROGRAM', JSON.generate(Support.worker), File.join(@home, 'said'))
      client = RindBridge::Client.new(command: JSON.parse(ARGV[0]), deadline: 30, preview_deadline: 30)
      client.connect
      parents = client.status[:pid]
      Process.daemon(true, true)
      text = client.ui_preview('in the daemon')
      own = client.status[:pid]
      client.stop
      File.write("#{ARGV[1]}.part", JSON.generate([text, own != parents, parents]))
      File.rename("#{ARGV[1]}.part", ARGV[1])
    PROGRAM

    assert_empty said
    assert(eventually { File.exist?(File.join(@home, 'said')) })
    text, own, parents = JSON.parse(File.read(File.join(@home, 'said')))
    assert_equal ['in the daemon', true], [text, own]
    assert(eventually { !running?(parents) })
  end

  def test_the_worker_ends_with_an_oracle_that_calls_exec
    pid = Support.run_ruby(<<~'PROGRAM', JSON.generate(Support.worker)).to_i
      client = RindBridge::Client.new(command: JSON.parse(ARGV[0]), deadline: 30)
      client.connect
      exec('echo', client.status[:pid].to_s)
    PROGRAM

    assert_operator pid, :>, 0
    assert(eventually { !running?(pid) })
  end

  def test_the_worker_ends_with_an_oracle_that_does_not_stop_it
    ['exit', 'abort', 'raise("boom")', 'Process.kill(:KILL, Process.pid)', 'exit!'].each do |ending|
      said = Support.run_ruby(<<~'PROGRAM', JSON.generate(Support.worker), ending)
        RindBridge.start(command: JSON.parse(ARGV[0]), deadline: 30)
        RindBridge.client.connect
        $stdout.write(RindBridge.status[:pid], "\n")
        $stdout.flush
        eval(ARGV[1])
      PROGRAM

      assert(eventually { !running?(said.to_i) }, ending)
    end
  end

  def test_a_worker_whose_client_was_collected_ends
    pid = connected_and_dropped
    collected = eventually do
      GC.start
      Array.new(100) { Object.new }
      !running?(pid)
    end

    assert collected
  end

  def test_calls_go_on_while_every_allocation_collects_garbage
    client = connected
    GC.stress = true
    texts = Array.new(3) { |number| client.ui_preview({ content: "text #{number}" }) }
    GC.stress = false

    assert_equal ['text 0', 'text 1', 'text 2'], texts
    assert_equal 0, client.status[:fallbacks]
  ensure
    GC.stress = false
  end

  def test_a_call_under_thread_kill_leaves_the_next_one_its_own_answer
    client = connected(Support.worker('AnswersLate', 0.5), **FREE)
    first = client.status[:pid]
    calling = Thread.new { client.ui_preview('killed') }
    sleep(0.1)
    calling.kill.join

    assert_equal 'next', client.ui_preview('next')
    refute_equal first, client.status[:pid]
    refute running?(first)
  end

  def test_a_call_under_timeout_leaves_the_next_one_its_own_answer
    client = connected(Support.worker('AnswersLate', 0.5), **FREE)
    odd = Class.new(StandardError)

    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { client.ui_preview('late') } }
    assert_equal 'next', client.ui_preview('next')
    assert_raises(odd) { Timeout.timeout(0.1, odd) { client.ui_preview('late') && sleep } }
    assert_equal 'after', client.ui_preview('after')
  end

  def test_threads_killed_at_random_moments_leave_the_client_whole
    client = connected(**FREE)
    100.times do |number|
      threads = Array.new(3) { Thread.new { loop { client.ui_preview("noise #{number}") } } }
      sleep(rand * 0.005)
      threads.each(&:kill).each(&:join)

      assert_equal "text #{number}", client.ui_preview("text #{number}")
    end
    assert_equal :ready, client.status[:state]
  end

  def test_twenty_four_threads_at_once_get_their_own_answers
    client = connected
    threads = Array.new(24) do |thread|
      Thread.new { Array.new(50) { |number| client.ui_preview("thread #{thread}, call #{number}") } }
    end

    threads.each_with_index do |thread, number|
      assert_equal(Array.new(50) { |call| "thread #{number}, call #{call}" }, thread.value)
    end
    assert_equal [1, 0], client.status.values_at(:spawned, :fallbacks)
  end

  def test_who_waits_for_others_waits_no_longer_than_its_own_deadline
    client = client(Support.worker('AnswersLate', 1), deadline: 30, preview_deadline: 0.1)
    client.connect
    slow = Thread.new { client.tool_completed('slow', name: 'bash') }
    sleep(0.05)

    assert_equal 'echo', client.ui_preview('echo')
    refute_predicate slow.value, :degraded?
    assert_equal [1, 1], client.status.values_at(:spawned, :fallbacks)
  end

  def test_a_call_in_a_signal_handler_is_answered_by_ruby
    client = connected
    said = nil
    old = trap(:USR2) { said = client.ui_preview({ content: 'in the handler' }) }
    Process.kill(:USR2, Process.pid)

    assert_equal 'in the handler', eventually { said }
  ensure
    trap(:USR2, old || 'DEFAULT')
  end

  def test_a_stop_in_a_signal_handler_ends_the_worker
    client = connected
    pid = client.status[:pid]
    stopped = false
    old = trap(:USR2) { stopped = client.stop.nil? || true }
    Process.kill(:USR2, Process.pid)

    assert(eventually { stopped })
    assert(eventually { !running?(pid) })
    assert_equal 'text', client.ui_preview('text')
  ensure
    trap(:USR2, old || 'DEFAULT')
  end

  def test_a_preview_inside_of_a_to_json_is_answered
    client = connected
    nested = Class.new { define_method(:to_json) { |*state| client.ui_preview('inside').to_json(*state) } }

    assert_equal '{"a":"inside"}', client.ui_preview({ a: nested.new })
  end

  def test_a_logger_may_call_the_bridge_and_may_fail
    client = nil
    seen = []
    client = client(logger: lambda { |change|
      seen << [change[:state], client.ui_preview('from the logger')]
      raise 'a logger that fails'
    }, **PATIENT)

    assert_equal 'text', client.ui_preview('text')
    assert_equal [[:ready, 'from the logger']], seen
  end

  def test_descriptors_are_closed_on_exec
    before = descriptors_of_a_child
    connected

    assert_equal before, descriptors_of_a_child
  end

  def test_the_environment_passed_on_is_a_short_list_and_what_the_caller_names
    ENV['ORACLE_API_KEY'] = 'secret'
    ENV['RIND_BRIDGE_MODEL_MAX_LINES'] = '100'
    client = connected(env: { 'NAMED' => 'by the caller', PATH: nil })
    names = File.read("/proc/#{client.status[:pid]}/environ").split("\0").map { |pair| pair[/\A[^=]+/] }

    assert_empty(%w[NAMED RIND_BRIDGE_HOME RIND_BRIDGE_MODEL_MAX_LINES] - names)
    assert_empty(names & %w[ORACLE_API_KEY PATH])
  ensure
    %w[ORACLE_API_KEY RIND_BRIDGE_MODEL_MAX_LINES].each { |name| ENV.delete(name) }
  end

  def test_a_terminals_ctrl_c_reaches_the_oracle_alone
    client = connected(REAL_WORKER)
    pid = client.status[:pid]

    refute_equal Process.getpgrp, Process.getpgid(pid)
    Process.kill(:INT, pid)
    assert_answered_by(pid, client)
  end

  def test_no_shell_reads_the_command
    client = client([*Support.worker, '; touch', "#{@home}/touched", '$(touch x)'], **PATIENT)

    assert client.connect
    refute_path_exists "#{@home}/touched"
  end

  def test_many_restarts_leave_nothing_behind
    client = connected(**FREE)
    before = resources
    RESTARTS.times do |number|
      Process.kill(:KILL, client.status[:pid])
      assert_equal "text #{number}", client.ui_preview("text #{number}")
    end

    assert_equal RESTARTS, client.status[:restarts]
    assert_equal before, resources
  end

  private

  def connected(command = Support.worker, **settings)
    client(command, **PATIENT, **settings).tap { |made| assert made.connect }
  end

  # In a frame of its own, so that nothing on the stack keeps the client.
  def connected_and_dropped
    made = RindBridge::Client.new(command: Support.worker, **PATIENT)
    made.connect
    made.status[:pid]
  end

  def descriptors_of_a_child
    IO.popen(['ls', '/proc/self/fd'], close_others: false, &:read)
  end

  # Runs the block in a forked child; gives what it gives, carried as JSON.
  def in_child
    reading, writing = IO.pipe
    child = fork do
      reading.close
      writing.write(JSON.generate([yield]))
      writing.close
      exit!(0)
    end
    writing.close
    JSON.parse(reading.read).first
  ensure
    Process.wait(child)
    reading.close
  end

  def assert_answered_by(pid, client)
    assert_equal 'in the parent', client.ui_preview('in the parent')
    assert_equal [pid, 1, 0], client.status.values_at(:pid, :spawned, :fallbacks)
  end
end
