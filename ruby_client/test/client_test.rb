# frozen_string_literal: true

require 'test_helper'

class ClientTest < BridgeTest
  PATIENT = { deadline: 30, preview_deadline: 30 }.freeze

  def test_all_of_the_ruby_contract_holds_with_the_worker_up
    client = client(REAL_WORKER, **PATIENT)
    assert_contract(client)

    assert_equal [:ready, 0], client.status.values_at(:state, :fallbacks)
  end

  def test_all_of_the_ruby_contract_holds_with_the_worker_down
    client = client(NO_WORKER, **PATIENT)
    assert_contract(client)

    assert_equal 0, client.status[:spawned]
    assert_operator client.status[:fallbacks], :>, 0
  end

  def test_a_pass_through_is_the_very_object_and_sends_nothing
    path = File.join(@home, 'methods')
    client = client(Support.worker('WritesDownMethods', path), **PATIENT)
    client.connect
    hash = { content: 'x' * 5000 }

    assert_same hash, client.ui_preview(hash, name: 'read_file')
    assert_same hash, client.ui_preview(hash, 5, name: :read_file)
    client.stop

    assert_equal %w[initialize shutdown], File.readlines(path, chomp: true)
  end

  def test_structural_names_come_from_the_handshake
    client = client(Support.worker('KnowsPatchFile'), **PATIENT)
    patch = { ok: true }

    assert_same patch, client.ui_preview(patch, name: 'patch_file')
    assert_equal '{"ok":true}', client.ui_preview(patch, name: 'read_file')
    assert_equal ['patch_file'], client.status[:structural_tools]
  end

  def test_structural_names_that_the_caller_sets_hold_with_and_without_a_worker
    overview = { ok: true }
    [REAL_WORKER, NO_WORKER].each do |command|
      client = client(command, structural_tools: %w[read_file file_overview], **PATIENT)

      assert_same overview, client.ui_preview(overview, name: 'file_overview')
      assert_same overview, client.tool_completed(overview, name: 'file_overview').preview
    end
  end

  def test_a_long_text_is_sent_no_further_than_the_echo_shows_it
    path = File.join(@home, 'lines')
    client = client(Support.worker('WritesDownLengths', path), **PATIENT)
    client.ui_preview({ content: 'é' * 1_000_000 })
    client.stop

    assert_operator File.readlines(path)[1].to_i, :<, 9000
  end

  def test_what_was_finished_goes_to_the_worker_as_it_was_given
    client = client(Support.worker('GivesParamsBack'), **PATIENT)
    done = client.tool_completed({ a: [1, nil] }, name: :bash, call_id: 'c1', session_id: :s1, status: 'failed',
                                                  args: { command: 'ls' }, error_type: 'Timeout')

    assert_equal({ 'result' => { 'a' => [1, nil] }, 'name' => 'bash', 'status' => 'failed', 'error_type' => 'Timeout',
                   'session_id' => 's1', 'call_id' => 'c1', 'args' => { 'command' => 'ls' }, 'limit' => 0 },
                 JSON.parse(done.model_content))
  end

  def test_what_was_not_given_is_not_sent
    client = client(Support.worker('GivesParamsBack'), **PATIENT)

    assert_equal({ 'result' => nil, 'name' => 'bash', 'status' => 'completed', 'limit' => 0 },
                 JSON.parse(client.tool_completed(nil, name: 'bash').model_content))
  end

  def test_arguments_as_the_model_wrote_them_do_not_cost_the_projections
    client = client(REAL_WORKER, **PATIENT)

    ['{"command":"ls"}', '{"command":', 'ls', ['ls'], 7].each do |args|
      assert_nil client.tool_completed('text', name: 'bash', args: args).error
    end
  end

  def test_arguments_that_are_a_text_reach_the_worker_as_an_object
    done = client(Support.worker('GivesParamsBack'), **PATIENT).tool_completed('', name: 'a', args: '{"path":"a.rb"}')

    assert_equal({ 'path' => 'a.rb' }, JSON.parse(done.model_content)['args'])
  end

  def test_a_request_that_the_worker_cannot_read_goes_out_again_as_a_safe_copy
    odd = Class.new { def to_json(*) = 'no json' }
    client = client(REAL_WORKER, **PATIENT)
    done = client.tool_completed({ odd: odd.new }, name: 'bash')

    refute_kind_of RindBridge::RequestRefused, done.error
    assert_equal 1, client.status[:spawned]
  end

  def test_a_request_larger_than_the_worker_reads_is_not_sent
    client = client(REAL_WORKER, limits: { request_max_bytes: 1024 }, **PATIENT)
    client.connect
    done = client.tool_completed('x' * 2000, name: 'bash')

    assert_kind_of RindBridge::RequestTooLarge, done.error
    assert_match(/the worker reads 1024/, done.error.message)
    assert_equal 'text', client.ui_preview('text')
  end

  def test_the_real_worker_refuses_ids_that_are_paths_and_the_turn_goes_on
    done = client(REAL_WORKER, **PATIENT).tool_completed('text', name: 'bash', session_id: '../x', call_id: 'c')

    assert_predicate done, :degraded?
    assert_equal [-32_602, ['session_id']], [done.error.code, done.error.data['fields'].keys]
    assert_equal '"text"', done.model_content
  end

  def test_an_error_of_the_worker_names_every_field_at_fault_and_what_is_wrong
    done = client(REAL_WORKER, **PATIENT).tool_completed('text', name: 'bash', session_id: '../x', call_id: '')

    assert_equal %w[session_id call_id], done.error.fields.keys
    assert_match(/\AInvalid params \(-32602\); session_id: 1 to 512 characters.+; call_id: 1 to 512 characters/, done.error.message)
  end

  def test_a_limit_that_the_worker_does_not_know_is_named_where_people_look
    client = client(REAL_WORKER, limits: { model_max_bites: 1 }, **PATIENT)

    refute client.connect
    assert_match(/refused the handshake: Invalid params .*model_max_bites/, client.status[:last_error])
  end

  def test_settings_that_cannot_be_are_refused
    [{ deadline: 0 }, { deadline: '5' }, { preview_deadline: -1 }, { start_seconds: nil }, { stop_grace: 0 },
     { restarts: 0 }, { window: '3 minutes' }, { pause: -1 }, { cool_down: nil }].each do |setting|
      assert_raises(RindBridge::InvalidSetting) { RindBridge::Client.new(**setting) }
    end
    assert_raises(ArgumentError) { RindBridge::Client.new(dedline: 1) }
  end

  def test_a_preview_waits_no_longer_than_any_other_call
    client = client(Support.worker('HangsInHandshake'), deadline: 0.05, stop_grace: 0.1)

    assert_equal 'text', client.ui_preview('text')
    assert_match(/still starting/, client.tool_completed('text', name: 'a').error.message)
  end

  private

  def assert_contract(client)
    Support.contract('ui_preview_ruby.json').each do |example|
      result = eval(example['result_ruby']) # rubocop:disable Security/Eval -- the contract's cases are Ruby source
      name = example['name_ruby'] && eval(example['name_ruby']) # rubocop:disable Security/Eval
      shown = client.ui_preview(result, *example['limit'], name: name)

      example['expect_same_object'] ? assert_same(result, shown) : assert_equal(example['expect'], shown, example['id'])
    end
  end
end
