# frozen_string_literal: true

module RindBridge
  # Lines to and from a process over two pipes, and the end of what it writes to a third, its stderr. Knows no JSON.
  #
  # Whoever waits also reads what has arrived: a long request and a long reply that cross do not wait for each other
  # (three pipelined writes of 100 KB with unread replies deadlock), and a full stderr does not hold the process up.
  class Channel
    READ_BYTES = 65_536
    # A line longer than this is no reply of a worker.
    LINE_MAX_BYTES = 268_435_456
    # How much of stderr is kept.
    STDERR_BYTES = 512
    # A pipe holds no more than this many reads; a process that writes without end is not followed.
    MOST_READS_AT_CLOSE = 16

    # +input+ is what the process reads, +output+ what it writes, +errors+ its stderr.
    def initialize(input, output, errors = nil)
      @input = input
      @output = output
      @errors = [errors].compact
      @arrived = String.new # without an encoding's name it is ASCII-8BIT, the encoding of bytes
      @searched = 0
      @stderr = String.new
      @chunk = String.new
    end

    # Writes one whole line. Raises DeadlinePassed. A process that has closed its end is not an error here: what it
    # wrote before is still to be read.
    def write(line, deadline)
      until line.empty?
        written = @input.write_nonblock(line, exception: false)
        if written == :wait_writable
          wait(deadline, 'the worker did not read the whole request before the deadline', [@input])
        else
          line = line.byteslice(written..)
        end
      end
    rescue Errno::EPIPE, WorkerDied
      nil
    end

    # Returns the next line, with or without its end. Raises DeadlinePassed, WorkerDied at the end of input,
    # ProtocolFault for a line without end.
    def read(deadline)
      until (line_end = @arrived.index("\n", @searched))
        @searched = @arrived.bytesize
        wait(deadline, 'no whole reply before the deadline')
      end
      @searched = 0
      @arrived.slice!(0..line_end).force_encoding(Encoding::UTF_8)
    end

    # Reads what is left of stderr, then closes everything.
    def close
      MOST_READS_AT_CLOSE.times { break unless @errors.any? && receive_stderr }
      [@input, @output, *@errors].each(&:close)
    end

    def close_input = @input.close

    # The last line on stderr that is not blank, or its end when it is long; nil when there is none.
    def last_stderr_line = Utf8.of(@stderr).lines.map(&:strip).reject(&:empty?).last

    private

    def wait(deadline, late, writers = nil)
      remaining = deadline - Clock.now
      readable, = IO.select([@output, *@errors], writers, nil, remaining) if remaining.positive?
      raise DeadlinePassed, late unless readable

      receive_stderr if readable.any? { |pipe| @errors.include?(pipe) }
      receive if readable.include?(@output)
    end

    def receive
      read = @output.read_nonblock(READ_BYTES, @chunk, exception: false)
      raise WorkerDied, 'the worker closed its output' if read.nil?

      @arrived << read unless read == :wait_readable
      raise ProtocolFault, 'the worker wrote a line without end' if @arrived.bytesize > LINE_MAX_BYTES
    rescue SystemCallError, IOError => e
      raise WorkerDied, "reading from the worker: #{e.class}"
    end

    # Returns whether there was something to read.
    def receive_stderr
      read = @errors.first.read_nonblock(READ_BYTES, exception: false)
      @errors.pop.close if read.nil?
      return false unless read.is_a?(String)

      @stderr = (@stderr << read).then { |all| all.byteslice([all.bytesize - STDERR_BYTES, 0].max..) }
    end
  end
end
