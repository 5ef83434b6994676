# frozen_string_literal: true

require 'io/wait'
require_relative 'clock'
require_relative 'errors'

module RindBridge
  # Lines to and from a peer over two pipes. Knows no process and no JSON.
  #
  # Writing also reads what has arrived, so that a long request and a long reply that cross do not wait for each
  # other (three pipelined writes of 100 KB with unread replies deadlock).
  class Channel
    READ_BYTES = 65_536
    # A line longer than this is no reply of ours, but a peer gone mad.
    LINE_MAX_BYTES = 268_435_456

    # +input+ is what the peer reads, +output+ what it writes.
    def initialize(input, output)
      @input = input
      @output = output
      @chunk = String.new
      begin_anew
    end

    # Writes one whole line. Raises DeadlinePassed. A peer that has closed its end is not an error here: what it
    # wrote before is still to be read.
    def write(line, deadline)
      until line.empty?
        written = @input.write_nonblock(line, exception: false)
        if written == :wait_writable
          wait_both(deadline)
        else
          line = written == line.bytesize ? '' : line.byteslice(written, line.bytesize - written)
        end
      end
    rescue Errno::EPIPE, WorkerDied
      nil
    end

    # Gives the next line, with or without its end. Raises DeadlinePassed, WorkerDied at the end of input,
    # ProtocolFault for a line without end.
    def read(deadline)
      line = take_line unless @arrived.empty?
      until line
        wait(deadline)
        receive
        line = take_line
      end
      line.force_encoding(Encoding::UTF_8)
    end

    def close
      @input.close
      @output.close
    end

    def close_input = @input.close

    private

    def begin_anew
      @arrived = String.new # without an encoding's name it is ASCII-8BIT, the encoding of bytes
      @searched = 0
    end

    # A reply is nearly always all that has arrived; then it is handed on as it is, without a copy.
    def take_line
      line_end = @arrived.index("\n", @searched)
      if line_end.nil?
        @searched = @arrived.bytesize
        nil
      elsif line_end == @arrived.bytesize - 1
        @arrived.tap { begin_anew }
      else
        @searched = 0
        @arrived.slice!(0, line_end + 1)
      end
    end

    def wait(deadline)
      @output.wait_readable(remaining(deadline)) || raise(DeadlinePassed, 'no whole reply before the deadline')
    end

    def wait_both(deadline)
      readable, = IO.select([@output], [@input], nil, remaining(deadline))
      raise DeadlinePassed, 'the worker did not read the whole request before the deadline' unless readable

      receive if readable.any?
    end

    def remaining(deadline)
      remaining = deadline - Clock.now
      raise DeadlinePassed, 'no whole reply before the deadline' if remaining <= 0

      remaining
    end

    def receive
      into = @arrived.empty? ? @arrived : @chunk
      read = @output.read_nonblock(READ_BYTES, into, exception: false)
      raise WorkerDied, 'the worker closed its output' if read.nil?

      append(@chunk) if read.equal?(@chunk)
    rescue SystemCallError, IOError => e
      raise WorkerDied, "reading from the worker: #{e.class}"
    end

    def append(chunk)
      @arrived << chunk
      raise ProtocolFault, 'a line without end' if @arrived.bytesize > LINE_MAX_BYTES
    end
  end
end
