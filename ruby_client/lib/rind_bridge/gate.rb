# frozen_string_literal: true

module RindBridge
  # A lock with a deadline: one thread at a time passes, the others wait until it is theirs or their time is over.
  #
  # Inside, Thread#kill and the exceptions of Timeout and Thread#raise arrive only where the thread blocks, so
  # that no state is left half changed; what is inside must put things right in its own +ensure+.
  #
  # Ruby's Mutex knows no deadline, so a holder is written down under one that is never held for long. A holder that
  # is no longer alive holds nothing: so it is with every other thread in a forked child.
  class Gate
    AT_BLOCKING = { Object => :on_blocking }.freeze
    NEVER = { Object => :never }.freeze

    def initialize
      @lock = Mutex.new
      @freed = ConditionVariable.new
    end

    # Takes the deadline (a point on Clock) and returns what the block gives. Raises Unavailable when the deadline
    # passes first, when this thread is inside already, and in a signal handler, where no lock can be taken.
    def pass(deadline)
      Thread.handle_interrupt(AT_BLOCKING) do
        enter(deadline)
        begin
          yield
        ensure
          Thread.handle_interrupt(NEVER) { leave }
        end
      end
    end

    private

    def enter(deadline)
      @lock.synchronize do
        raise Unavailable, 'called from inside a call of the bridge' if @holder == Thread.current

        while @holder&.alive?
          remaining = deadline - Clock.now
          raise Unavailable, 'other calls kept the worker busy until the deadline' if remaining <= 0

          @freed.wait(@lock, remaining)
        end
        @holder = Thread.current
      end
    rescue ThreadError => e
      raise Unavailable, "nobody can wait here: #{e.message}"
    end

    # Wakes all who wait, not one: the one could be a thread that is just being killed.
    def leave
      @lock.synchronize do
        @holder = nil
        @freed.broadcast
      end
    end
  end
end
