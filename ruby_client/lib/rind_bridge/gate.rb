# frozen_string_literal: true

require_relative 'clock'
require_relative 'errors'

module RindBridge
  # A lock with a deadline: one thread at a time passes, the others wait until it is theirs or their time is over.
  #
  # Inside, Thread#kill and the exceptions of Timeout and Thread#raise arrive only where the thread blocks, so
  # that no state is left half changed; what is inside must put things right in its own +ensure+.
  #
  # Ruby's Mutex knows no deadline, so who finds it taken waits on a condition instead. The Mutex itself takes
  # care of what ends its holder: a thread that dies lets go of it, and a forked child starts with it free.
  class Gate
    AT_BLOCKING = { Object => :on_blocking }.freeze
    NEVER = { Object => :never }.freeze

    def initialize
      @taken = Mutex.new
      @queue = Mutex.new
      @freed = ConditionVariable.new
      @waiting = 0
    end

    # Takes the deadline (a point on Clock) and returns what the block gives. Raises Unavailable when the deadline
    # passes first and when this thread is inside already.
    def pass(deadline)
      Thread.handle_interrupt(AT_BLOCKING) do
        @taken.try_lock || wait_for_turn(deadline)
        begin
          yield
        ensure
          leave
        end
      end
    end

    private

    def wait_for_turn(deadline)
      raise Unavailable, 'called from inside a call of the bridge' if @taken.owned?

      @queue.synchronize do
        @waiting += 1
        wait(deadline) until @taken.try_lock
      ensure
        @waiting -= 1
      end
    rescue ThreadError => e
      raise Unavailable, "nobody can wait here: #{e.message}" # In a signal handler.
    end

    def wait(deadline)
      remaining = deadline - Clock.now
      raise Unavailable, 'other calls kept the worker busy until the deadline' if remaining <= 0

      @freed.wait(@queue, remaining)
    end

    # Wakes all who wait, not one: the one could be a thread that is just being killed. Whoever begins to wait
    # after the look at @waiting finds the lock free.
    def leave
      @taken.unlock
      Thread.handle_interrupt(NEVER) { @queue.synchronize { @freed.broadcast } } if @waiting.positive?
    rescue ThreadError
      nil # In a signal handler; those who wait look again at their deadline's end at the latest.
    end
  end
end
