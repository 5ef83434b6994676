# frozen_string_literal: true

require 'test_helper'

# Every way in which a worker can fail, each by a real process: the turn goes on, and no answer is the wrong one.
class FaultsTest < BridgeTest
  LONG = { content: 'x' * 50 }.freeze
  ECHO = 'xxxxxxx...'
  PATIENT = { deadline: 30, preview_deadline: 30 }.freeze
  HASTY = { deadline: 30, preview_deadline: 0.3 }.freeze

  def test_a_worker_that_is_not_installed
    client = client(['rind-bridge-that-nobody-installed', 'serve'])

    assert_ruby_answers client, /cannot be started: No such file/
  end

  def test_a_wrong_path
    assert_ruby_answers client(NO_WORKER), /cannot be started: No such file/
  end

  def test_a_path_that_is_no_program
    assert_ruby_answers client([__FILE__]), /cannot be started: Permission denied/
  end

  def test_a_wrong_directory
    assert_ruby_answers client(chdir: '/no/such/folder'), /cannot be started: No such file/
  end

  def test_a_command_that_is_no_command
    assert_ruby_answers client('rind-bridge "serve'), /cannot be split into words/
    assert_ruby_answers client(''), /command is empty/
  end

  def test_a_worker_that_exits_at_start
    assert_ruby_answers client(Support.worker('ExitsAtStart'), **PATIENT), /closed its output; .*no such module/
  end

  def test_a_worker_that_prints_garbage_first
    ['Loading settings...', '{"level":"info","id":1}', "\xFF", ''].each do |noise|
      ["\n", ''].each do |line_end|
        client = client(Support.worker('PrintsGarbageFirst', noise + line_end), **PATIENT)

        assert_worker_answers client
        assert_match(/not JSON-RPC: "#{Regexp.escape(noise[0, 8].scrub.inspect[1..-2])}/, client.status[:last_error]) unless noise.empty?
      end
    end
  end

  def test_a_worker_that_prints_garbage_without_end_before_its_first_reply
    client = client(Support.worker('PrintsGarbageFirst', "noise\n" * 20_000), **PATIENT)

    assert_ruby_answers client, /greeted with no reply; .*not JSON-RPC: "noise/
  end

  def test_a_worker_that_speaks_another_protocol
    assert_ruby_answers client(Support.worker('SpeaksAnotherProtocol'), **PATIENT),
                        /another protocol \(99; this gem speaks 1\); install gem and worker of one version/
  end

  def test_a_reply_that_ruby_cannot_read_leaves_the_worker_alive
    client = client(Support.worker('AnswersTooDeep'), **PATIENT)
    done = Array.new(6) { client.tool_completed('text', name: 'bash') }

    assert_match(/no JSON that Ruby reads/, done.last.error.message)
    assert_equal [:ready, 1, 6], client.status.values_at(:state, :spawned, :fallbacks)
  end

  def test_calls_that_stall_do_not_leave_the_others_without_a_worker
    client = client(Support.worker('StallsOnRequest'), deadline: 30, preview_deadline: 0.3, restarts: 2, cool_down: 3600)
    3.times do
      assert_equal 'stall', client.ui_preview('stall')
      refute_predicate client.tool_completed('innocent', name: 'bash'), :degraded?
    end
    assert_equal [:ready, 4, 3], client.status.values_at(:state, :spawned, :fallbacks)
  end

  def test_a_worker_that_only_stalls_is_given_up
    client = client(Support.worker('StallsOnRequest'), deadline: 30, preview_deadline: 0.3, restarts: 2, cool_down: 3600)
    client.connect
    3.times { assert_equal 'stall', client.ui_preview('stall') }

    assert_equal [:given_up, 2], client.status.values_at(:state, :spawned)
  end

  def test_a_worker_that_writes_much_to_stderr_between_two_calls
    client = client(Support.worker('FloodsStderrWhenIdle'), **PATIENT)

    3.times { assert_worker_answers client }
  end

  def test_a_worker_that_refuses_the_handshake
    assert_ruby_answers client(Support.worker('RefusesHandshake'), **PATIENT), /refused the handshake/
  end

  def test_a_worker_that_greets_as_another_program_would
    assert_ruby_answers client(Support.worker('GreetsOddly'), **PATIENT), /another protocol/
  end

  def test_projections_that_are_none
    done = client(Support.worker('GivesNoPolicy'), **PATIENT).tool_completed('text', name: 'bash')

    assert_match(/gave no projections/, done.error.message)
    refute_predicate done, :truncated?
  end

  def test_an_oracle_without_a_descriptor_to_spare
    said = Support.run_ruby(<<~'PROGRAM', JSON.generate(Support.worker))
      client = RindBridge::Client.new(command: JSON.parse(ARGV[0]), deadline: 30, pause: 0, restarts: 100)
      Process.setrlimit(:NOFILE, 300, Process.getrlimit(:NOFILE).last)
      taken = []
      begin
        loop { taken << File.open(File::NULL) }
      rescue Errno::EMFILE
        9.times do
          raise 'no preview' unless client.ui_preview('text') == 'text'
          taken.pop.close
        end
      end
      print client.status[:fallbacks].positive?, client.status[:last_error]
    PROGRAM

    assert_match(/\Atrue.*Too many open files/, said)
  end

  def test_a_worker_that_hangs_in_the_handshake_is_replaced_when_its_own_time_is_over
    client = client(Support.worker('HangsInHandshake'), preview_deadline: 0.05, start_seconds: 0.2)

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal :starting, client.status[:state]
    sleep(0.2)

    assert_ruby_answers client, /no whole reply before the deadline/
  end

  def test_a_worker_that_starts_slowly_costs_no_more_than_a_deadline_and_is_used_once_it_is_up
    client = client(Support.worker('GreetsLate', 1), preview_deadline: 0.05)

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert(eventually { client.ui_preview(LONG, 10) == ECHO && client.status[:state] == :ready })
    assert_equal 1, client.status[:spawned]
  end

  def test_half_a_line
    assert_ruby_answers hasty('AnswersHalfALine'), /no whole reply before the deadline/
  end

  def test_a_line_without_end
    assert_ruby_answers hasty('DribblesForever'), /no whole reply before the deadline/
  end

  def test_a_late_answer_is_never_read_as_the_next_one
    client = hasty('AnswersLate', 1)

    assert_ruby_answers client, /no whole reply before the deadline/
    answers = Array.new(20) { |number| client.ui_preview("text #{number}") }

    assert_equal Array.new(20) { |number| "text #{number}" }, answers
  end

  def test_a_wrong_id
    assert_ruby_answers client(Support.worker('AnswersWrongId'), **PATIENT), /answered another request/
  end

  def test_a_second_answer_to_the_same_call_is_not_taken_for_the_next_one
    client = client(Support.worker('AnswersTwice'), **PATIENT)

    assert_equal %w[a b c], [client.ui_preview('a'), client.ui_preview('b'), client.ui_preview('c')]
    assert_match(/answered another request/, client.status[:last_error])
  end

  def test_a_notification_in_between
    assert_worker_answers client(Support.worker('NotifiesInBetween'), **PATIENT)
  end

  def test_an_answer_that_is_not_json
    assert_ruby_answers client(Support.worker('AnswersNoJson'), **PATIENT), /not JSON/
  end

  def test_a_preview_that_is_no_text_leaves_the_worker_alive
    client = client(Support.worker('AnswersNoText'), **PATIENT)

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal [:ready, 1], client.status.values_at(:state, :fallbacks)
  end

  def test_an_error_of_the_worker_is_kept_in_the_completion
    client = client(Support.worker('AnswersAnError'), **PATIENT)
    done = client.tool_completed(LONG, name: 'bash')

    assert_predicate done, :degraded?
    assert_equal [-32_603, 'Internal error (-32603)'], [done.error.code, done.error.message]
    assert_equal :ready, client.status[:state]
  end

  def test_a_closed_stderr
    assert_worker_answers client(Support.worker('ClosesStderr'), **PATIENT)
  end

  def test_a_megabyte_on_stderr
    assert_worker_answers client(Support.worker('FloodsStderr'), **PATIENT)
  end

  def test_a_closed_stdout
    assert_ruby_answers client(Support.worker('ClosesStdout'), **PATIENT), /closed its output/
  end

  def test_a_worker_that_dies_between_write_and_read_is_replaced_and_asked_again
    client = client(Support.worker('DiesBeforeAnswer', lives(1)), **PATIENT)

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal [:ready, 2, 0], client.status.values_at(:state, :spawned, :fallbacks)
  end

  def test_a_call_that_kills_two_workers_is_answered_by_ruby
    client = client(Support.worker('DiesBeforeAnswer', lives(2)), **PATIENT)

    assert_ruby_answers client, /closed its output/
    assert_equal 2, client.status[:spawned]
  end

  def test_the_reply_of_a_worker_that_died_after_writing_it_is_used
    client = client(Support.worker('DiesAfterAnswer'), **PATIENT)

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal [:ready, 1, 0], client.status.values_at(:state, :spawned, :fallbacks)
  end

  def test_the_reply_to_a_request_that_was_not_read_to_its_end_is_used
    client = client(Support.worker('RefusesAndDies'), **PATIENT)
    done = client.tool_completed('x' * 5_000_000, name: 'bash')

    assert_kind_of RindBridge::RequestTooLarge, done.error
    assert_equal [true, 5_000_002], [done.truncated?, done.policy['total_bytes']]
  end

  def test_a_huge_reply
    client = client(Support.worker('AnswersHuge'), **PATIENT)

    assert_equal 10_000_000, client.ui_preview('x').length
  end

  def test_a_huge_request_and_a_huge_reply_that_cross
    client = client(Support.worker('CrossesHuge'), **PATIENT)
    done = client.tool_completed('x' * 10_000_000, name: 'bash')

    assert_match(/gave no projections/, done.error.message)
    assert_equal :ready, client.status[:state]
  end

  def test_a_worker_that_is_stopped_as_a_process_is_replaced
    client = client(**PATIENT, preview_deadline: 0.3)
    client.connect
    Process.kill(:STOP, client.status[:pid])

    assert_ruby_answers client, /no whole reply before the deadline/
    assert_worker_answers client
  end

  def test_a_worker_that_was_killed_while_idle_is_replaced_within_the_call
    client = client(**PATIENT)
    client.connect
    Process.kill(:KILL, client.status[:pid])

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal [:ready, 2, 0], client.status.values_at(:state, :spawned, :fallbacks)
  end

  def test_a_worker_that_ignores_the_end_of_its_input_is_ended_by_term
    client = client(Support.worker('IgnoresTheEnd'), stop_grace: 0.1)
    client.connect
    pid = client.status[:pid]
    client.stop

    refute running?(pid)
  end

  def test_a_worker_that_ignores_term_too_is_ended_by_kill
    client = client(Support.worker('IgnoresTheEnd', 'term'), stop_grace: 0.1)
    client.connect
    pid = client.status[:pid]
    client.stop

    refute running?(pid)
  end

  def test_what_a_worker_leaves_behind_does_not_outlive_it
    client = client(Support.worker('LeavesAChild'), **PATIENT)
    client.ui_preview('x')
    group = client.status[:pid]
    client.stop

    assert(eventually { Dir['/proc/[0-9]*/stat'].none? { |stat| in_group?(stat, group) } })
  end

  private

  def hasty(behaviour, *arguments)
    client = client(Support.worker(behaviour, *arguments), **HASTY)
    client.connect
    client
  end

  # A file that says how many workers are to die.
  def lives(count)
    File.join(@home, 'lives').tap { |path| File.write(path, count.to_s) }
  end

  def assert_worker_answers(client)
    before = client.status[:fallbacks]

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal [:ready, before], client.status.values_at(:state, :fallbacks)
  end

  def assert_ruby_answers(client, reason)
    before = client.status[:fallbacks]

    assert_equal ECHO, client.ui_preview(LONG, 10)
    assert_equal before + 1, client.status[:fallbacks]
    assert_match reason, client.status[:last_error]
    refute_equal :ready, client.status[:state]
  end

  def in_group?(stat, group)
    fields = File.read(stat).split(') ').last.split
    fields[2].to_i == group && fields[0] != 'Z'
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end
end
