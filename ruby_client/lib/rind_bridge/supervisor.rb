# frozen_string_literal: true

require_relative 'clock'
require_relative 'errors'
require_relative 'gate'
require_relative 'restart_policy'
require_relative 'worker'

module RindBridge
  # Keeps one worker, replaces it when it is lost, and lets one call through at a time.
  #
  # Whatever ends a call early - its deadline, a dead worker, a wrong answer, Thread#kill, Timeout - the worker
  # with the unfinished call is ended and its pipes are never read again, so a late reply finds no reader.
  class Supervisor
    # How long a worker may take from spawn to its first reply, in seconds.
    START_SECONDS = 10
    # States that have a reason.
    LOSSES = %i[lost given_up].freeze

    # +on_change+ is called with a Hash (state, reason) when the worker becomes ready, is lost, is given up for
    # a while, or is stopped: once for each change, outside of the lock.
    def initialize(launch, limits: nil, policy: RestartPolicy.new, start_seconds: START_SECONDS, on_change: nil)
      @launch = launch
      @limits = limits
      @policy = policy
      @start_seconds = start_seconds
      @on_change = on_change
      @gate = Gate.new
      @changes = Queue.new
      @refusals = {}
      @state = :idle
      @spawned = 0
      @stopped = false
    end

    # What the last worker said of itself in the handshake; nil before the first.
    attr_reader :hello

    # Sends a request (see Worker#request) and gives the reply's object. A worker that is found dead is replaced
    # and asked once more, since the request may never have reached it. Raises Unavailable.
    def call(body, deadline)
      pass(deadline) do
        using_worker(deadline) { |worker| worker.request(body, deadline) }
      end
    end

    # Waits until a worker has greeted. Raises Unavailable.
    def connect(deadline)
      pass(deadline) { using_worker(deadline, &:hello) }
    end

    # Ends the worker and starts no other. A call under way gets until +deadline+; after that, or in a signal
    # handler, the worker is only killed, and whoever is inside the call, or the next #stop, reaps it.
    def stop(deadline, grace = Worker::STOP_GRACE)
      @stopped = true
      pass(deadline) { Thread.handle_interrupt(Gate::NEVER) { stop_worker(grace) } }
    rescue Unavailable
      @worker&.signal(:KILL)
    end

    # Tells +on_change+ of a call that the worker refused (a RemoteError) as the state :refused: once for each kind
    # of error and fields at fault, since whoever calls wrongly does so every time. The worker itself is well.
    def refused(error)
      kind = [error.class, error.code, error.fields.keys]
      return if @on_change.nil? || @refusals.key?(kind)

      @refusals[kind] = true
      @changes << { state: :refused, reason: error.message }
      report_changes
    end

    # Ends the worker at once, for a finalizer: nobody can be inside a call any more.
    def abandon = @worker&.kill

    # See Client#status. A forked child is told of itself alone.
    def status
      worker = @worker
      inherited = worker && worker.owner != Process.pid
      {
        state: inherited ? :idle : @state,
        pid: inherited ? nil : worker&.pid,
        spawned: inherited ? 0 : @spawned,
        restarts: inherited ? 0 : [@spawned - 1, 0].max,
        last_error: @last_error
      }
    end

    private

    def pass(deadline, &block)
      @gate.pass(deadline, &block)
    ensure
      report_changes
    end

    def using_worker(deadline)
      again = true
      begin
        worker = ready_worker(deadline)
        guarding(worker) { yield worker }
      rescue WorkerDied
        raise unless again

        again = false
        retry
      end
    end

    def ready_worker(deadline)
      worker = own_worker || start_worker
      greet(worker, deadline) unless worker.greeted?
      worker
    end

    def own_worker
      return @worker if @worker.nil? || @worker.owner == Process.pid

      # This is a forked child: the worker is the parent's.
      @worker.forsake
      @state = :idle
      @spawned = 0
      @worker = nil
    end

    def start_worker
      raise Unavailable, 'the bridge is stopped' if @stopped

      wait = @policy.wait(Clock.now)
      raise Unavailable, format('no new worker for another %.1f s', wait) if wait.positive?

      Thread.handle_interrupt(Gate::NEVER) { spawn_worker }
    end

    def spawn_worker
      @policy.started
      @worker = Worker.new(@launch, start_deadline: Clock.now + @start_seconds)
      @worker.introduce(@limits)
      @spawned += 1
      @state = :starting unless @state == :lost
      @worker
    rescue Unavailable => e
      lose(e)
      raise
    end

    # The caller's time may end before the worker has started up; the worker may go on with that.
    def greet(worker, deadline)
      worker.greet([deadline, worker.start_deadline].min)
      @hello = worker.hello
      change(:ready)
    rescue DeadlinePassed => e
      raise Unavailable, 'the worker is still starting' if Clock.now < worker.start_deadline

      lose(e)
      raise
    rescue Unavailable => e
      lose(e)
      raise
    end

    def guarding(worker)
      done = false
      answer = yield
      done = true
      answer
    rescue Unavailable => e
      lose(e)
      raise
    ensure
      lose(Unavailable.new('a call was interrupted')) unless done || @worker.nil?
    end

    def lose(error)
      Thread.handle_interrupt(Gate::NEVER) do
        worker = @worker
        @worker = nil
        worker&.kill
        @last_error = described(error, worker)
        change(@policy.lost(Clock.now) ? :given_up : :lost)
      end
    end

    def described(error, worker)
      words = worker&.last_words
      words.nil? ? error.message : "#{error.message}; it last said: #{words}"
    end

    def stop_worker(grace)
      worker = own_worker
      @worker = nil
      worker&.stop(grace)
      change(:stopped)
    end

    def change(state)
      return if @state == state

      @state = state
      return unless @on_change

      @changes << { state: state, reason: LOSSES.include?(state) ? @last_error : nil }
    end

    def report_changes
      return if @on_change.nil?

      @on_change.call(@changes.pop(true)) until @changes.empty?
    rescue ThreadError
      nil # Another thread has taken the last one.
    rescue StandardError => e
      @last_error = "the logger failed: #{e.class}" # A logger must not break a turn.
    end
  end
end
