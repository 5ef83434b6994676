# frozen_string_literal: true

require 'json'
require_relative 'channel'
require_relative 'clock'
require_relative 'errors'
require_relative 'stderr_tail'
require_relative 'version'

module RindBridge
  # One worker process, from its spawn to its reaping. For one thread at a time (Gate sees to that).
  class Worker
    # How long an orderly end may take before the next, rougher step, in seconds.
    STOP_GRACE = 1.0
    # The first look whether a child has ended comes after this many seconds, each later one after twice as long.
    FIRST_LOOK = 0.001
    LONGEST_LOOK = 0.05
    HANDSHAKE_ID = 1
    HEAD = '{"jsonrpc":"2.0","id":'
    # What a client needs of the handshake's result.
    HELLO = { 'structural_tools' => Array, 'limits' => Hash }.freeze

    attr_reader :pid, :owner, :hello, :start_deadline

    # Starts a process as +launch+ says. Raises Unavailable when there is no such program or it cannot be started.
    def initialize(launch, start_deadline: Clock.now + 10)
      @owner = Process.pid
      @start_deadline = start_deadline
      @hello = nil
      @last_id = HANDSHAKE_ID
      launch_process(launch)
    end

    # Writes the handshake, with +limits+ for the worker; its reply is read by #greet.
    def introduce(limits)
      client = { name: 'rind_bridge', version: VERSION, ruby: RUBY_VERSION }
      handshake = { method: 'initialize', params: { client: client, limits: limits }.compact }
      @channel.write(frame(HANDSHAKE_ID, JSON.generate(handshake).delete_prefix('{')), @start_deadline)
    end

    def greeted? = !@hello.nil?

    # Reads the reply of the handshake. Raises DeadlinePassed, which harms nothing as long as +start_deadline+
    # has not passed as well: the next call waits on. Raises WorkerDied and ProtocolFault.
    def greet(deadline)
      reply = reply_to(HANDSHAKE_ID, deadline)
      result = reply['result']
      raise ProtocolFault, "the worker refused the handshake: #{refusal(reply)}" unless result.is_a?(Hash)

      fits = HELLO.all? { |name, kind| result[name].is_a?(kind) }
      raise ProtocolFault, 'the worker greeted with another protocol' unless fits

      @hello = result.freeze
    end

    # Sends one request, +body+ being its JSON without version and id, and gives the reply's object: it has
    # +result+ or +error+. Raises DeadlinePassed, WorkerDied, ProtocolFault; after any of them the worker is spoilt.
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
      signal(:KILL) unless ended?(grace)
      ended?(grace)
      release
    end

    # Ends a spoilt process at once; reaps it.
    def kill
      return forsake if foreign?

      signal(:KILL)
      ended?(STOP_GRACE)
      release
    end

    # In a forked child: lets go of the parent's pipes without a word to the worker.
    def forsake
      @channel.close
      @stderr.close
    end

    # To the whole group, and never to a process that was reaped and whose number may be another's by now.
    def signal(name)
      Process.kill(name, -@pid) unless @ended || foreign?
    rescue Errno::ESRCH, Errno::EPERM
      nil # The group is gone: there is nobody left to end.
    end

    # The last line that the process wrote to stderr; nil when there is none.
    def last_words = @stderr.last_line

    private

    def foreign? = @owner != Process.pid

    # Descriptors, threads and processes may all be used up: that costs an answer, never the turn.
    def launch_process(launch)
      argv = launch.argv
      opened = []
      3.times { opened.concat(IO.pipe(binmode: true)) }
      worker_in, input, output, worker_out, errors, worker_err = opened
      @stderr = StderrTail.new(errors)
      @pid = Process.spawn(launch.environment, [argv[0], argv[0]], *argv.drop(1),
                           spawn_options(launch, in: worker_in, out: worker_out, err: worker_err))
      @channel = Channel.new(input, output)
      [worker_in, worker_out, worker_err].each(&:close)
    rescue SystemCallError, ThreadError, ArgumentError => e
      opened.each(&:close)
      @stderr&.close
      raise Unavailable, "the worker cannot be started: #{e.message}"
    end

    # A process group of its own: a terminal's Ctrl-C reaches the oracle, and what the worker started ends with it.
    def spawn_options(launch, **pipes)
      options = { unsetenv_others: true, close_others: true, pgroup: true, **pipes }
      options[:chdir] = launch.chdir.to_s if launch.chdir
      options
    end

    def frame(id, body) = "#{HEAD}#{id},#{body}\n"

    # Passes over notifications. An answer to another request is never taken for this one: with one request under
    # way at a time it means that the two sides no longer agree.
    def reply_to(id, deadline)
      loop do
        reply = parse(@channel.read(deadline))
        return reply if reply['id'] == id && (reply.key?('result') || reply.key?('error'))
        next if !reply.key?('id') && reply.key?('method')
        # An error without id answers a line that could not be understood: ours, there is no other.
        return reply if reply['id'].nil? && reply['error'].is_a?(Hash)

        raise ProtocolFault, 'the worker answered another request than it was asked'
      end
    end

    def parse(line)
      reply = JSON.parse(line)
      raise ProtocolFault, 'the worker wrote JSON that is no object' unless reply.is_a?(Hash)

      reply
    rescue JSON::ParserError, EncodingError
      raise ProtocolFault, 'the worker wrote a line that is not JSON'
    end

    def refusal(reply)
      reply.key?('error') ? RemoteError.from(reply['error']).message : 'its result is no object'
    end

    # A worker that does not read any more is ended by the steps that need no reader. Its reply is not waited for.
    def ask_to_shut_down
      @channel.write(frame(@last_id + 1, '"method":"shutdown"}'), Clock.now + FIRST_LOOK)
    rescue DeadlinePassed
      nil
    end

    # Waits at most +seconds+. A child that somebody else has reaped (Process.waitall) has ended as well.
    def ended?(seconds)
      deadline = Clock.now + seconds
      look = FIRST_LOOK
      until reaped?
        return false if Clock.now >= deadline

        sleep(look)
        look = [look * 2, LONGEST_LOOK].min
      end
      true
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

    def release
      # A process that even KILL did not end in time (it hangs in the kernel) is left to a thread of Ruby's.
      Process.detach(@pid) unless @ended
      @channel.close
      @stderr.close
    end
  end
end
