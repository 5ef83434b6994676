# frozen_string_literal: true

require 'test_helper'
require 'support/ruby_objects'

# A killer is loose among the workers while eight threads complete tools.
#
# A few seconds by default; BRIDGE_CHAOS=full makes 20,000 completions under at least 1,000 signals.
class ChaosTest < BridgeTest
  FULL = ENV['BRIDGE_CHAOS'] == 'full'
  THREADS = 8
  COMPLETIONS = FULL ? 20_000 : 200
  SIGNALS = FULL ? 1_000 : 6
  KINDS = %i[KILL STOP TERM].freeze
  # The longest quiet time before a signal, in seconds; every other one also waits for an answer by a worker first,
  # so that both starting and answering workers are hit.
  QUIET = 0.2
  # The longest wait for that answer, in seconds.
  PATIENCE = 10
  SETTINGS = {
    deadline: 1, preview_deadline: 0.5, start_seconds: 2, restarts: 1_000_000, pause: 0, stop_grace: 0.5
  }.freeze

  def setup
    super
    @client = client(REAL_WORKER, **SETTINGS)
    @lock = Mutex.new
    @done = @by_worker = 0
    @signals = Hash.new(0)
    @recoveries = Hash.new { |all, kind| all[kind] = [] }
  end

  def test_no_kill_breaks_a_turn_or_mixes_answers_up
    started = RindBridge::Clock.now
    @client.connect
    killer = Thread.new { kill_at_random }
    threads = Array.new(THREADS) { |number| Thread.new { complete_until_done(number) } }
    wrong = threads.flat_map(&:value)
    killer.join

    assert_empty wrong
    refute_empty @recoveries, 'no worker answered after a signal'
    report(RindBridge::Clock.now - started)
  end

  private

  def kill_at_random
    until @signals.values.sum >= SIGNALS && @done >= COMPLETIONS
      eventually(PATIENCE) { @killed.nil? } if @signals.values.sum.even?
      sleep(rand * QUIET)
      signal(KINDS.sample)
    end
    @over = true
  end

  def signal(kind)
    pid = @client.status[:pid]
    return unless pid && Process.kill(kind, pid)

    @lock.synchronize do
      @signals[kind] += 1
      @killed ||= [RindBridge::Clock.now, kind]
    end
  rescue Errno::ESRCH
    nil # It was replaced this very moment.
  end

  # Gives what went wrong; the numbers of calls and threads are in every text, so that a mix-up shows.
  def complete_until_done(thread)
    wrong = []
    call = 0
    until @over
      call += 1
      fault = complete("thread #{thread}, call #{call}.")
      wrong << fault if fault
    end
    wrong
  rescue StandardError => e
    wrong << "thread #{thread}: #{e.full_message}"
  end

  def complete(token)
    text = token * (1 + rand(300))
    started = RindBridge::Clock.now
    done = @client.tool_completed({ content: text, token: token }, name: 'grep', status: 'completed')
    count(done, started)
    fault_of(done, text, token)
  end

  def fault_of(done, text, token)
    expected = text.length <= 4000 ? text : "#{text[0, 3997]}..."
    return "preview of #{token}" unless done.preview == expected
    return "echo of #{token}" unless @client.ui_preview(text) == expected
    return "model content of #{token}" unless done.model_content.include?(token)

    "terminal content of #{token}" unless done.terminal_content.include?(token)
  end

  def count(done, started)
    @lock.synchronize do
      @done += 1
      next if done.degraded?

      @by_worker += 1
      killed, kind = @killed
      next unless killed && started > killed

      @recoveries[kind] << RindBridge::Clock.now - killed
      @killed = nil
    end
  end

  def report(seconds)
    puts format("\nchaos: %d completions and as many echoes in %.0f s, %d answered by a worker, " \
                '%d signals %p, %d restarts', @done, seconds, @by_worker,
                @signals.values.sum, @signals, @client.status[:restarts])
    @recoveries.sort.each { |kind, times| report_recovery(kind, times.sort.map { |time| time * 1000 }) }
  end

  def report_recovery(kind, times)
    puts format('chaos: from %-4s to the next answer by a worker: median %.0f ms, 95th %.0f ms, longest %.0f ms ' \
                '(%d times)', kind, times[times.size / 2], times[times.size * 95 / 100], times.last, times.size)
  end
end
