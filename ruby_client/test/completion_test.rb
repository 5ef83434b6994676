# frozen_string_literal: true

require 'test_helper'

class CompletionTest < BridgeTest
  PATIENT = { deadline: 30, preview_deadline: 30 }.freeze

  def test_a_worker_gives_bounded_projections_and_says_where_the_rest_is
    text = (1..100_000).map { |number| "line #{number}\n" }.join
    done = client(REAL_WORKER, **PATIENT).tool_completed(text, name: 'bash', session_id: 's', call_id: 'c')

    assert_nil done.error
    assert_operator done.terminal_content.bytesize, :<=, 8192
    assert_operator done.model_content.bytesize, :<=, 25_600
    assert_equal 'tool_result_v1', done.model_content_format
    assert_predicate done, :truncated?
    assert_equal text, File.read(done.output['path'])
    assert_equal [4000, '...'], [done.preview.length, done.preview[-3..]]
  end

  def test_a_structural_result_is_its_own_preview
    page = { content: "a\n", path: 'a.rb', range: [1, 1] }

    assert_same page, client(REAL_WORKER, **PATIENT).tool_completed(page, name: 'read_file').preview
  end

  def test_without_a_worker_the_model_gets_the_whole_result_that_is_within_its_limits
    text = 'x' * 25_000
    done = client(NO_WORKER).tool_completed(text, name: 'bash', session_id: 's', call_id: 'c')

    assert_predicate done, :degraded?
    refute_predicate done, :truncated?
    refute_predicate done, :replayed?
    assert_equal [text, 'whole_result', 25_002],
                 [JSON.parse(done.model_content), done.model_content_format, done.policy['total_bytes']]
    assert_equal 4000, done.preview.length
    assert_equal done.preview, done.terminal_content
    assert_equal({ 'reason' => 'degraded' }, done.output)
    assert_kind_of RindBridge::Unavailable, done.error
  end

  def test_without_a_worker_the_model_gets_no_more_of_a_result_than_its_limits
    done = client(NO_WORKER).tool_completed('x' * 100_000, name: 'bash')

    assert_predicate done, :truncated?
    assert_equal ['result_excerpt', 100_002], [done.model_content_format, done.policy['total_bytes']]
    assert_operator done.model_content.bytesize, :<=, 25_600
    assert_match(/\Ax+\n\[rind_bridge: no worker answered; \d+ of 100000 bytes .*\]\nx+\z/, JSON.parse(done.model_content))
  end

  def test_without_a_worker_the_limits_of_the_last_handshake_hold
    client = client(REAL_WORKER, limits: { model_max_bytes: 3000 }, **PATIENT)
    assert client.connect
    client.stop
    done = client.tool_completed('x' * 100_000, name: 'bash')

    assert_predicate done, :degraded?
    assert_includes 2900..3000, done.model_content.bytesize
  end

  def test_the_first_degraded_completion_says_on_stderr_what_is_wrong_and_what_to_do_unless_there_is_a_logger
    _, said = capture_io do
      client = client(NO_WORKER, logger: nil)
      2.times { client.tool_completed('text', name: 'bash') }
    end

    assert_match(/\Arind_bridge: .*No such file .*rind-bridge doctor.*\n\z/, said)
    assert_output('', '') { client(NO_WORKER, logger: Logger.new(StringIO.new)).tool_completed('text', name: 'bash') }
  end

  def test_the_preview_of_the_result_that_was_completed_last_costs_no_second_call
    path = File.join(@home, 'methods')
    client = client(Support.worker('WritesDownMethods', path), **PATIENT)
    result = { content: 'x' * 5000 }
    done = client.tool_completed(result, name: 'bash')

    assert_equal done.preview, client.ui_preview(result, name: 'bash')
    result[:content] = 'changed since'
    assert_equal 'changed since', client.ui_preview(result, name: 'bash')
    assert_equal 'chan...', client.ui_preview(result, 7, name: 'bash')
    client.ui_preview({ content: 'x' * 5000 }, name: 'bash')
    client.stop
    assert_equal %w[initialize tool_completed ui_preview ui_preview ui_preview shutdown], File.readlines(path, chomp: true)
  end

  def test_without_a_worker_a_hash_goes_to_the_model_as_this_ruby_writes_it
    done = client(NO_WORKER).tool_completed({ result: 'ok', exit_status: 0 }, name: 'run_command')

    assert_equal '{"result":"ok","exit_status":0}', done.model_content
  end

  def test_without_a_worker_what_json_refuses_still_reaches_the_model
    done = client(NO_WORKER).tool_completed({ score: Float::NAN, text: "\xFF" }, name: 'a')

    assert_equal({ 'score' => 'NaN', 'text' => "\uFFFD" }, JSON.parse(done.model_content))
  end

  def test_without_a_worker_no_attachment_is_lost
    image = { 'path' => '/tmp/a.png', 'media_type' => 'image/png' }
    client = client(NO_WORKER)

    assert_equal [image], client.tool_completed({ attachments: [image] }, name: 'a').attachments
    assert_equal [image], client.tool_completed({ 'attachments' => [image] }, name: 'a').attachments
    assert_empty client.tool_completed('text', name: 'a').attachments
  end

  def test_a_completion_is_shown_on_a_terminal_without_its_contents
    text = 'x' * 100_000

    assert_equal '#<RindBridge::Completion 6 bytes for the model, degraded: RindBridge::Unavailable>',
                 client(NO_WORKER).tool_completed('text', name: 'a').inspect

    client = client(REAL_WORKER, **PATIENT)
    shown = Array.new(2) { client.tool_completed(text, name: 'a', session_id: 's', call_id: 'c').inspect }

    assert_match(/\A#<RindBridge::Completion \d+ bytes for the model, truncated>\z/, shown.first)
    assert_match(/\A#<RindBridge::Completion \d+ bytes for the model, truncated, replayed>\z/, shown.last)
  end

  def test_any_object_gives_a_completion_with_and_without_a_worker
    require 'support/ruby_objects'
    require 'support/seed'
    [REAL_WORKER, NO_WORKER].each do |command|
      client = client(command, **PATIENT)
      objects = RubyObjects.new(SEED)
      300.times { assert_whole(client.tool_completed(objects.object, name: 'grep')) }
    end
  end

  private

  def assert_whole(done)
    [done.preview, done.terminal_content, done.model_content].each do |text|
      assert_kind_of String, text
      assert_predicate text, :valid_encoding?
    end
  end
end
