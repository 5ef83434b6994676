# frozen_string_literal: true

require_relative 'clock'
require_relative 'errors'

module RindBridge
  # A lock with a deadline: one thread at a time passes, the others wait until it is theirs or their time is over.
  #
  # Inside, Thread#kill and the exceptions of Timeout and Thread#raise arrive only where the thread blocks, so
  # that no state is left half changed; what is inside must put things right in its own +ensure+.
  class Gate
    AT_BLOCKING = { Object => :on_blocking }.freeze
    NEVER = { Object => :never }.freeze

    def initialize
      @mutex = Mutex.new
      @freed = ConditionVariable.new
      @holder = nil
      @process = Process.pid
    end

    # Takes the deadline (a point on Clock) and gives what the block gives. Raises Unavailable when the deadline
    # passes first, when this thread is inside already, and in a signal handler, where Ruby permits no lock.
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
      @mutex.synchronize do
        forget_parent if @process != Process.pid
        raise Unavailable, 'called from inside a call of the bridge' if @holder == Thread.current

        wait_for_turn(deadline) while @holder
        @holder = Thread.current
      end
    rescue ThreadError => e
      raise Unavailable, "no lock can be taken here: #{e.message}"
    end

    # After a fork the thread that was inside may be the parent's alone; nobody would ever leave.
    def forget_parent
      @process = Process.pid
      @holder = nil
    end

    def wait_for_turn(deadline)
      remaining = deadline - Clock.now
      raise Unavailable, 'other calls kept the worker busy until the deadline' if remaining <= 0

      @freed.wait(@mutex, remaining)
    end

    # Wakes all who wait, not one: the one could be a thread that is just being killed.
    def leave
      @mutex.synchronize do
        @holder = nil
        @freed.broadcast
      end
    end
  end
end
