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
      @arrived = String.new(encoding: Encoding::BINARY)
      @chunk = String.new(encoding: Encoding::BINARY)
      @searched = 0
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

    # Gives the next line without its end. Raises DeadlinePassed, WorkerDied at the end of input, ProtocolFault
    # for a line without end.
    def read(deadline)
      loop do
        line = take_line
        return line if line

        wait(deadline)
        receive
      end
    end

    def close
      @input.close
      @output.close
    end

    def close_input = @input.close

    private

    def take_line
      line_end = @arrived.index("\n", @searched)
      if line_end.nil?
        @searched = @arrived.bytesize
        return
      end
      line = @arrived.byteslice(0, line_end).force_encoding(Encoding::UTF_8)
      line_end == @arrived.bytesize - 1 ? @arrived.clear : @arrived.slice!(0, line_end + 1)
      @searched = 0
      line
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
      case @output.read_nonblock(READ_BYTES, @chunk, exception: false)
      when nil then raise WorkerDied, 'the worker closed its output'
      when String then append
      end
    rescue SystemCallError, IOError => e
      raise WorkerDied, "reading from the worker: #{e.class}"
    end

    def append
      @arrived << @chunk
      raise ProtocolFault, 'a line without end' if @arrived.bytesize > LINE_MAX_BYTES
    end
  end
end
