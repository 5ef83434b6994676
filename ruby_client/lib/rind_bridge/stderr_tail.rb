# frozen_string_literal: true

require_relative 'utf8'

module RindBridge
  # Reads a child's stderr for as long as it lives, so that the child never waits for a reader, and keeps the end.
  class StderrTail
    KEPT_BYTES = 2048
    READ_BYTES = 65_536
    # How long the last bytes may take to arrive when the child has ended, in seconds.
    CLOSE_WAIT = 0.2

    def initialize(pipe)
      @pipe = pipe
      @kept = String.new(encoding: Encoding::BINARY)
      @thread = Thread.new { drain }
      @thread.report_on_exception = false
      @thread.name = 'rind_bridge stderr'
    end

    # Whoever the child left behind may hold the pipe open; it is closed all the same.
    def close
      @thread.join(CLOSE_WAIT) || @thread.kill.join
      @pipe.close
    end

    def to_s = Utf8.of(String.new(@kept, encoding: Encoding::UTF_8))

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
