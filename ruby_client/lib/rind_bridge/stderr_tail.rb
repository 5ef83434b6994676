# frozen_string_literal: true

require_relative 'utf8'

module RindBridge
  # Reads a child's stderr for as long as it lives, so that the child never waits for a reader, and keeps the end.
  class StderrTail
    KEPT_BYTES = 512
    READ_BYTES = 65_536
    # How long the last bytes may take to arrive when the child has ended, in seconds.
    CLOSE_WAIT = 0.2

    def initialize(pipe)
      @pipe = pipe
      @kept = String.new(encoding: Encoding::BINARY)
      # A new thread inherits the mask of the one that starts it; this one must be free to be ended.
      @thread = Thread.new { Thread.handle_interrupt(Object => :immediate) { drain } }
      @thread.report_on_exception = false
      @thread.name = 'rind_bridge stderr'
    end

    # Whoever the child left behind may hold the pipe open; it is closed all the same.
    def close
      @thread.join(CLOSE_WAIT) || @thread.kill.join
      @pipe.close
    end

    # Gives the last line that is not blank, or its end when it is long; nil when there is none.
    def last_line
      Utf8.of(@kept).lines.map(&:strip).reject(&:empty?).last
    end

    private

    def drain
      chunk = String.new(capacity: READ_BYTES)
      loop { keep(@pipe.readpartial(READ_BYTES, chunk)) }
    rescue EOFError, IOError
      nil # The child has closed it; so has this thread done its work.
    end

    def keep(chunk)
      tail = @kept + chunk
      @kept = tail.bytesize > KEPT_BYTES ? tail.byteslice(-KEPT_BYTES, KEPT_BYTES) : tail
    end
  end
end
