# frozen_string_literal: true

require_relative 'clock'
require_relative 'completion'
require_relative 'echo'
require_relative 'errors'
require_relative 'launch'
require_relative 'pages'
require_relative 'request'
require_relative 'restart_policy'
require_relative 'supervisor'

module RindBridge
  # A caller of one worker, with Ruby's own answer wherever the worker has none. Any number of threads may share
  # one; a forked child may go on using it and gets a worker of its own.
  class Client
    # The longest wait of a call, in seconds, spawn and queue included.
    DEADLINE = 5.0
    # The same for a preview, which is cosmetic.
    PREVIEW_DEADLINE = 1.0
    # The projections' own preview is not asked for: the echo is printed by this Ruby.
    NO_PREVIEW = 0

    LIVE = ObjectSpace::WeakMap.new
    private_constant :LIVE
    at_exit { LIVE.keys.each(&:stop) }

    # Settings, all optional:
    # command:, home:, structural_tools:, env:, chdir::: see Launch.
    # limits::           a Hash for the worker's handshake, by the names of its limits.
    # deadline::         seconds for a call; preview_deadline:: seconds for ui_preview, at most +deadline+.
    # start_seconds::    seconds that a worker may take from spawn to first reply, however long calls wait.
    # stop_grace::       seconds for an orderly end before each rougher step.
    # restarts:, window:, pause:, cool_down::: see RestartPolicy.
    # logger::           something with +call+ (gets a Hash: state, reason) or with +warn+ (a Logger). A completion that
    #                    the worker refused is told as the state :refused, once for each reason.
    # Spawns nothing: the first call does. Raises InvalidSetting.
    def initialize(deadline: DEADLINE, preview_deadline: PREVIEW_DEADLINE, limits: nil, logger: nil,
                   start_seconds: Supervisor::START_SECONDS, stop_grace: Worker::STOP_GRACE,
                   restarts: 5, window: 180, pause: 0.1, cool_down: 60, **launch)
      @deadline = seconds(:deadline, deadline)
      @preview_deadline = [seconds(:preview_deadline, preview_deadline), @deadline].min
      @stop_grace = seconds(:stop_grace, stop_grace)
      launch = Launch.new(**launch)
      @own_structural_tools = launch.structural_tools || Echo::STRUCTURAL_TOOLS
      policy = RestartPolicy.new(restarts: restarts, window: window, pause: pause, cool_down: cool_down)
      @supervisor = Supervisor.new(launch, limits: limits, policy: policy, on_change: Client.reporter(logger),
                                           start_seconds: seconds(:start_seconds, start_seconds))
      @fallbacks = 0
      register
    end

    # Gives the echo that +name+'s result gets on the panel: a String in UTF-8 of at most +limit+ characters
    # (with "..." when cut), or the very object when +name+ is structural and +result+ a Hash. Raises nothing
    # but ArgumentError for a +limit+ that is no number, and waits no longer than the preview deadline.
    def ui_preview(result, limit = Echo::LIMIT, name: nil)
      return result if Echo.passes?(result, name, structural_tools)

      deadline = Clock.now + @preview_deadline
      head = Echo.head(result, limit)
      begin
        return result if @supervisor.hello.nil? && name && learns_to_pass?(result, name, deadline)

        worker_echo(head, limit, name, deadline)
      rescue Error
        @fallbacks += 1
        Echo.cut(head, limit)
      end
    end

    # Takes a finished tool: its result (any object), its name, the call's and session's ids (checked names, or
    # nil), its status ("completed", "failed", "cancelled"), arguments (a Hash or its JSON) and type of error.
    # Gives a Completion; raises nothing of RindBridge::Error: without a worker's answer the completion is degraded.
    def tool_completed(result, name:, call_id: nil, session_id: nil, status: 'completed', args: nil,
                       error_type: nil)
      deadline = Clock.now + @deadline
      given = { status: status, error_type: error_type, session_id: session_id, call_id: call_id }
      params = { result: result, name: name.to_s, **given.compact.transform_values(&:to_s), limit: NO_PREVIEW }
      arguments = Request.arguments(args)
      params[:args] = arguments if arguments
      projections = projections(params, deadline)
      Completion.from_worker(projections, preview: preview(result, name))
    rescue Error => e
      @fallbacks += 1
      @supervisor.refused(e) if e.is_a?(RemoteError)
      Completion.degraded(result, preview: preview(result, name), echo: Echo.text(result, Echo::LIMIT), error: e)
    end

    # Gives the OutputPage of a stored output from line +offset+ and character +column+ (both from 1), at most
    # +limit+ lines. Raises OutputMissing with a reason, InvalidParams, StoreUnavailable, Unavailable.
    def read_output(session_id:, call_id:, offset: 1, column: 1, limit: 2000)
      place = { session_id: session_id.to_s, call_id: call_id.to_s, offset: offset, column: column, limit: limit }
      OutputPage.new(ask('read_output', place, Clock.now + @deadline)) do |**from|
        read_output(session_id: session_id, call_id: call_id, limit: limit, **from)
      end
    end

    # Gives the pages of a stored output from its beginning, each read when it is asked for.
    def each_page(session_id:, call_id:, limit: 2000, &block)
      return to_enum(:each_page, session_id: session_id, call_id: call_id, limit: limit) unless block

      read_output(session_id: session_id, call_id: call_id, limit: limit).each_page(&block)
    end

    # Gives the ReplayPage of a session after sequence number +after+, at most +limit+ completions.
    # Raises InvalidParams, StoreUnavailable, Unavailable.
    def replay(session_id, after: 0, limit: 500)
      fields = ask('replay', { session_id: session_id.to_s, after: after, limit: limit }, Clock.now + @deadline)
      ReplayPage.new(fields) { |**from| replay(session_id, limit: limit, **from) }
    end

    # Waits for a worker that answers. Gives true, or false when there is none before the deadline.
    def connect
      @supervisor.connect(Clock.now + @deadline)
      true
    rescue Unavailable
      false
    end

    # Ends the worker in order; what is asked afterwards, Ruby answers alone.
    def stop
      @supervisor.stop(Clock.now + @deadline + @stop_grace, @stop_grace)
    end

    # A Hash: state (:idle, :starting, :ready, :lost, :given_up, :stopped), pid, spawned, restarts, fallbacks,
    # last_error, structural_tools and server (what the worker calls itself, with its version).
    def status
      hello = @supervisor.hello || {}
      @supervisor.status.merge(
        fallbacks: @fallbacks, structural_tools: structural_tools,
        server: hello['server'], version: hello['version'], home: hello['home']
      )
    end

    # Without the settings: the worker's environment may hold what the caller keeps secret.
    def inspect = "#<#{self.class} #{@supervisor.status[:state]}>"

    # The names whose Hash results pass through: as the worker said, before that as set here.
    def structural_tools
      @supervisor.hello&.fetch('structural_tools', nil) || @own_structural_tools
    end

    # These two must not refer to a client, or it could never be collected.
    class << self
      def reporter(logger)
        return logger if logger.nil? || logger.respond_to?(:call)

        ->(change) { logger.warn("rind_bridge: worker #{change.values_at(:state, :reason).compact.join(': ')}") }
      end

      def finalizer(supervisor) = ->(_id) { supervisor.abandon }
    end

    private

    def seconds(name, value)
      return value.to_f if value.is_a?(Numeric) && value.positive?

      raise InvalidSetting, "#{name} must be a number of seconds above 0, not #{value.inspect}"
    end

    # Who forgets to stop a client still leaves no worker behind: neither at the process's end nor at its own.
    def register
      LIVE[self] = true
      ObjectSpace.define_finalizer(self, Client.finalizer(@supervisor))
    end

    # Only the worker knows its structural tools for sure; asking it once keeps the first call right as well.
    def learns_to_pass?(result, name, deadline)
      return false unless Hash === result # BasicObject has no is_a?

      @supervisor.connect(deadline)
      Echo.passes?(result, name, structural_tools)
    end

    def worker_echo(head, limit, name, deadline)
      params = { result: head, limit: limit }
      params[:name] = name.to_s unless name.nil?
      answer = ask('ui_preview', params, deadline)
      answer.is_a?(String) ? answer : raise(ProtocolFault, 'the worker gave a preview that is no text')
    end

    def preview(result, name)
      Echo.ui_preview(result, name: name, structural_tools: structural_tools)
    end

    def projections(params, deadline)
      projections = ask('tool_completed', params, deadline)
      return projections if projections.is_a?(Hash) && Completion.fits?(projections)

      raise ProtocolFault, 'the worker gave no projections'
    end

    # Gives a reply's result. A request that the worker could not read goes out once more as a JSON-safe copy.
    def ask(method, params, deadline)
      answer(Request.body(method, params), deadline)
    rescue RequestRefused
      answer(Request.safe_body(method, params), deadline)
    end

    def answer(body, deadline)
      refuse_oversize(body)
      reply = @supervisor.call(body, deadline)
      reply.key?('error') ? raise(RemoteError.from(reply['error'])) : reply['result']
    end

    # The worker would throw such a line away; it need not be sent to learn that.
    def refuse_oversize(body)
      most = @supervisor.hello&.dig('limits', 'request_max_bytes')
      return unless most && body.bytesize > most

      raise RequestTooLarge, "a request of #{body.bytesize} bytes; the worker reads #{most}"
    end
  end
end
