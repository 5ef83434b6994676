# frozen_string_literal: true

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
    def initialize(launch, limits: nil, policy: RestartPolicy.new, start_seconds: START_SECONDS, on_change: ->(_) {})
      @launch = launch
      @limits = limits
      @policy = policy
      @start_seconds = start_seconds
      @on_change = on_change
      @gate = Gate.new
      @changes = Queue.new
      @told = Set.new
      @state = :idle
      @spawned = 0
    end

    # What the last worker said of itself in the handshake; nil before the first.
    attr_reader :hello

    # Sends a request (see Worker#request) and returns the reply's object. A worker that is found dead is replaced
    # and asked once more, since the request may never have reached it. Raises Unavailable.
    def call(body, deadline)
      pass(deadline) { using_worker(deadline) { |worker| worker.request(body, deadline) } }
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

    # Tells +on_change+ of something that is no loss of a worker, once for each +kind+.
    def tell_once(kind, state, reason)
      note_once(kind, state, reason)
      report_changes
    end

    # Ends the worker at once, for a finalizer: nobody can be inside a call any more.
    def abandon = @worker&.kill

    # See Client#status. A forked child is told of itself alone.
    def status
      worker = @worker
      return { state: :idle, pid: nil, spawned: 0, restarts: 0, last_error: @last_error } if inherited?(worker)

      { state: @state, pid: worker&.pid, spawned: @spawned, restarts: [@spawned - 1, 0].max, last_error: @last_error }
    end

    private

    def pass(deadline, &block)
      @gate.pass(deadline, &block)
    ensure
      report_changes
    end

    def using_worker(deadline, tries = 2)
      worker = own_worker || start_worker
      greet(worker, deadline) unless worker.hello
      guarding { yield worker }
    rescue WorkerDied
      (tries -= 1).positive? ? retry : raise
    end

    def inherited?(worker) = worker && worker.owner != Process.pid

    def own_worker
      return @worker unless inherited?(@worker)

      @worker.forsake
      @state = :idle
      @spawned = 0
      @worker = nil
    end

    def start_worker
      raise Unavailable, 'the bridge is stopped' if @stopped

      wait = @policy.wait(Clock.now)
      raise Unavailable, format('no new worker for another %.1f s', wait) if wait.positive?

      Thread.handle_interrupt(Gate::NEVER) { losing { spawn_worker } }
    end

    def spawn_worker
      @policy.started
      @worker = Worker.new(@launch, limits: @limits, start_deadline: Clock.now + @start_seconds)
      @spawned += 1
      @state = :starting unless @state == :lost
      @worker
    end

    # The caller's time may end before the worker has started up; the worker may go on with that.
    def greet(worker, deadline)
      @hello = losing(still_starting: worker) { worker.greet([deadline, worker.start_deadline].min) }
      @last_error = worker.last_words || @last_error
      change(:ready)
      version = hello['version']
      return if version == VERSION

      note_once(:version, :other_version, "the worker is #{version}, this gem #{VERSION}; install both in one version")
    end

    def losing(still_starting: nil)
      yield
    rescue Unavailable => e
      starting = e.is_a?(DeadlinePassed) && still_starting && Clock.now < still_starting.start_deadline
      raise Unavailable, 'the worker is still starting' if starting

      lose(e)
      raise
    end

    def guarding(&call)
      answer = losing(&call)
      @policy.answered
      answer
    ensure
      lose(Unavailable.new('a call was interrupted')) unless answer || @worker.nil?
    end

    # A worker that answers no more within a call was well before it: that is put down to the call at first.
    def lose(error)
      Thread.handle_interrupt(Gate::NEVER) do
        worker = @worker
        @worker = nil
        worker&.kill
        @last_error = [error.message, worker&.last_words].compact.join('; ')
        by_call = worker&.hello && !error.is_a?(WorkerDied)
        change(@policy.lost(Clock.now, by_call: by_call) ? :given_up : :lost)
      end
    end

    def stop_worker(grace)
      worker = own_worker
      @worker = nil
      worker&.stop(grace)
      change(:stopped)
    end

    def change(state)
      @changes << { state: state, reason: LOSSES.include?(state) ? @last_error : nil } unless @state == state
      @state = state
    end

    def note_once(kind, state, reason)
      @changes << { state: state, reason: reason } if @told.add?(kind)
    end

    def report_changes
      @on_change.call(@changes.pop(true)) until @changes.empty?
    rescue ThreadError
      nil # Another thread has taken the last one.
    rescue StandardError => e
      @last_error = "the logger failed: #{e.class}" # A logger must not break a turn.
    end
  end
end
