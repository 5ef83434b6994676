# frozen_string_literal: true

module RindBridge
  # One worker process, from its spawn to its reaping. For one thread at a time (Gate sees to that).
  class Worker
    # How long an orderly end may take before the next, rougher step, in seconds.
    STOP_GRACE = 1.0
    # Seconds between two looks whether a child has ended.
    LOOK = 0.002
    HANDSHAKE_ID = 1
    # The version of the wire that this client speaks.
    PROTOCOL = 1
    FRAME = '{"jsonrpc":'
    # What a client needs of the handshake's result.
    HELLO = { 'structural_tools' => Array, 'limits' => Hash }.freeze
    # What may stand before the first reply (a sitecustomize or .pth file that prints).
    NOISE_MAX_BYTES = 65_536

    attr_reader :pid, :owner, :hello, :start_deadline

    # Starts a process as +launch+ says and writes the handshake, with +limits+ for the worker; #greet reads its reply.
    # Raises Unavailable when there is no such program or it cannot be started.
    def initialize(launch, limits:, start_deadline:)
      @owner = Process.pid
      @start_deadline = start_deadline
      @last_id = HANDSHAKE_ID
      @noise = String.new
      client = { name: 'rind_bridge', version: VERSION, ruby: RUBY_VERSION, json: JSON::VERSION }
      handshake = Request.body('initialize', { client: client, limits: limits }.compact)
      launch_process(launch)
      @channel.write(frame(HANDSHAKE_ID, handshake), @start_deadline)
    end

    # Reads the reply of the handshake and returns its result. Raises DeadlinePassed, which harms nothing as long as
    # +start_deadline+ has not passed as well: the next call waits on. Raises WorkerDied and ProtocolFault.
    def greet(deadline)
      reply = first_reply(deadline)
      result = reply['result']
      raise ProtocolFault, "the worker refused the handshake: #{RemoteError.from(reply['error']).message}" unless result

      check_protocol(result)
      @hello = result.freeze
    end

    # Sends one request, +body+ being its JSON without version and id, and returns the reply's object: it has
    # +result+ or +error+. Raises DeadlinePassed, WorkerDied, ProtocolFault; after any of them nothing more may be
    # asked of this worker.
    def request(body, deadline)
      id = @last_id += 1
      @channel.write(frame(id, body), deadline)
      reply_to(id, deadline)
    end

    # Ends the process in order: shutdown, end of input, a wait, TERM, a wait, KILL; reaps it.
    def stop(grace = STOP_GRACE)
      return forsake if foreign?

      ask_to_shut_down
      @channel.close_input
      signal(:TERM) unless ended?(grace)
      kill(grace)
    end

    # Ends the process at once when it has not ended within +grace+ seconds; reaps it.
    def kill(grace = 0)
      return forsake if foreign?

      signal(:KILL) unless ended?(grace)
      # A process that even KILL does not end in time (it hangs in the kernel) is left to a thread of Ruby's.
      Process.detach(@pid) unless ended?(STOP_GRACE)
      @channel.close
    end

    # In a forked child: lets go of the parent's pipes without a word to the worker.
    def forsake = @channel.close

    # To the whole group, and never to a process that was reaped and whose number may be another's by now.
    def signal(name)
      Process.kill(name, -@pid) unless @ended || foreign?
    rescue Errno::ESRCH, Errno::EPERM
      nil # The group is gone: there is nobody left to end.
    end

    # What it printed where no words belong, and its last line on stderr; nil when it did neither.
    def last_words
      words = []
      noise = Utf8.of(@noise).strip[0, 80].inspect
      words << "before its first reply it printed what is not JSON-RPC: #{noise}" unless @noise.empty?
      words << "it last said: #{@channel.last_stderr_line}" if @channel.last_stderr_line
      words.join('; ') unless words.empty?
    end

    private

    def foreign? = @owner != Process.pid

    # Descriptors and threads may all be used up: that costs an answer, never the turn.
    def launch_process(launch)
      opened = []
      program = launch.program
      3.times { opened.concat(IO.pipe(binmode: true)) }
      worker_in, input, output, worker_out, errors, worker_err = opened
      @pid = Process.spawn(launch.environment, [program, launch.argv.first], *launch.argv.drop(1),
                           **spawn_options(launch), in: worker_in, out: worker_out, err: worker_err)
      @channel = Channel.new(input, output, errors)
      [worker_in, worker_out, worker_err].each(&:close)
    rescue SystemCallError, ArgumentError => e
      opened.each(&:close)
      raise Unavailable, "the worker cannot be started: #{e.message}"
    end

    # A process group of its own: a terminal's Ctrl-C reaches the oracle, and what the worker started ends with it.
    def spawn_options(launch)
      { unsetenv_others: true, close_others: true, pgroup: true, chdir: launch.chdir&.to_s }.compact
    end

    def frame(id, body) = %({"jsonrpc":"2.0","id":#{id},#{body}\n)

    # The first line that answers the handshake; what Python prints while it starts may stand before it, even in its line.
    def first_reply(deadline)
      loop do
        noise, *frame = @channel.read(deadline).b.rpartition(FRAME)
        reply = parsed(frame.join.force_encoding(Encoding::UTF_8))
        @noise << noise
        return reply if answer?(reply, HANDSHAKE_ID)

        @noise << frame.join
        raise ProtocolFault, 'the worker greeted with no reply' if @noise.bytesize > NOISE_MAX_BYTES
      end
    end

    def check_protocol(result)
      fits = result.is_a?(Hash) && HELLO.all? { |name, kind| result[name].is_a?(kind) }
      protocol = result['protocol'] if fits
      return if protocol == PROTOCOL

      raise ProtocolFault, "the worker greeted with another protocol (#{protocol.inspect}; this gem speaks #{PROTOCOL}); " \
                           'install gem and worker of one version'
    end

    # Passes over notifications. An answer to another request is never taken for this one: with one request under
    # way at a time it means that the two sides no longer agree.
    def reply_to(id, deadline)
      loop do
        line = @channel.read(deadline)
        reply = parsed(line) || unreadable(line)
        return reply if answer?(reply, id)

        notification = !reply.key?('id') && reply.key?('method')
        raise ProtocolFault, 'the worker answered another request than it was asked' unless notification
      end
    end

    # An error without id answers a line that could not be understood: ours, there is no other.
    def answer?(reply, id)
      return false if reply.nil?

      (reply['id'] == id && (reply.key?('result') || reply.key?('error'))) ||
        (reply['id'].nil? && reply['error'].is_a?(Hash))
    end

    def parsed(line)
      reply = JSON.parse(line)
      reply if reply.is_a?(Hash)
    rescue JSON::ParserError, EncodingError
      nil
    end

    # A line that begins as a reply does is the one that was waited for: the worker is well, its reply cannot be used.
    def unreadable(line)
      raise ProtocolFault, 'the worker wrote a line that is not JSON' unless line.start_with?(FRAME)

      { 'id' => @last_id, 'error' => { 'code' => -32_603, 'message' => 'the reply is no JSON that Ruby reads' } }
    end

    # A worker that does not read any more is ended by the steps that need no reader. Its reply is not waited for.
    def ask_to_shut_down
      @channel.write(frame(@last_id + 1, '"method":"shutdown"}'), Clock.now + LOOK)
    rescue DeadlinePassed
      nil
    end

    # Waits at most +seconds+. A child that somebody else has reaped (Process.waitall) has ended as well.
    def ended?(seconds)
      deadline = Clock.now + seconds
      sleep(LOOK) until reaped? || Clock.now >= deadline
      @ended
    end

    # With the worker goes whatever it started and left behind.
    def reaped?
      return true if @ended
      return false unless Process.wait(@pid, Process::WNOHANG)

      signal(:KILL)
      @ended = true
    rescue Errno::ECHILD
      @ended = true
    end
  end
end
