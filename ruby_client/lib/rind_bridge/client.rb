# frozen_string_literal: true

module RindBridge
  # A caller of one worker, with Ruby's own answer wherever the worker has none. Any number of threads may share
  # one; a forked child may go on using it and gets a worker of its own.
  class Client
    # The longest wait of a call, in seconds, spawn and queue included.
    DEADLINE = 5.0
    # The same for a preview, which is cosmetic.
    PREVIEW_DEADLINE = 1.0
    # The shortest time that a setting may name, in seconds.
    SHORTEST = 0.001
    # The projections' own preview is not asked for: the echo is printed by this Ruby.
    NO_PREVIEW = 0
    # What a Logger hears as information; all else is a warning.
    QUIET = %i[ready stopped].freeze
    # What stderr hears when there is no logger.
    LOUD = %i[degraded other_version].freeze

    # What the first degraded completion adds to its reason.
    ADVICE = 'The model gets what fits of the result, and the rest is kept nowhere; `rind-bridge doctor` says what is ' \
             'missing, and a logger hears of every change.'

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
    # logger::           something with +call+ (gets a Hash: state, reason) or a Logger. A completion that the worker
    #                    refused is told as the state :refused, once for each reason; a worker of another version as
    #                    :other_version. Without a logger, stderr hears of that and of the first degraded completion.
    # Spawns nothing: the first call does. Raises InvalidSetting.
    def initialize(deadline: DEADLINE, preview_deadline: PREVIEW_DEADLINE, limits: nil, logger: nil,
                   start_seconds: Supervisor::START_SECONDS, stop_grace: Worker::STOP_GRACE,
                   restarts: 5, window: 180, pause: 0.1, cool_down: 60, **launch)
      InvalidSetting.check(SHORTEST, deadline: deadline, preview_deadline: preview_deadline,
                                     start_seconds: start_seconds, stop_grace: stop_grace)
      @deadline = deadline
      @preview_deadline = [preview_deadline, deadline].min
      @stop_grace = stop_grace
      launch = Launch.new(**launch)
      @own_structural_tools = launch.structural_tools || Echo::STRUCTURAL_TOOLS
      policy = RestartPolicy.new(restarts: restarts, window: window, pause: pause, cool_down: cool_down)
      @supervisor = Supervisor.new(launch, limits: limits, policy: policy, on_change: Client.reporter(logger),
                                           start_seconds: start_seconds)
      @logger = logger
      @fallbacks = 0
      LIVE[self] = true
      # Who forgets to stop a client leaves no worker behind: neither at the process's end nor at its own.
      ObjectSpace.define_finalizer(self, Client.finalizer(@supervisor))
    end

    # Returns the echo that +name+'s result gets on the panel: a String in UTF-8 of at most +limit+ characters
    # (with "..." when cut), or the very object when +name+ is structural and +result+ a Hash. Raises nothing
    # but ArgumentError for a +limit+ that is no number, and waits no longer than the preview deadline. The result
    # that was completed last is not sent to the worker again.
    def ui_preview(result, limit = Echo::LIMIT, name: nil)
      return result if Echo.passes?(result, name, structural_tools)

      deadline = Clock.now + @preview_deadline
      head = Echo.head(result, limit)
      return Echo.cut(head, limit) if limit == Echo::LIMIT && [result.__id__, head] == @completed

      begin
        return result if @supervisor.hello.nil? && name && learns_to_pass?(result, name, deadline)

        worker_echo(head, limit, name, deadline)
      rescue Error
        @fallbacks += 1
        Echo.cut(head, limit)
      end
    end

    # Takes a finished tool: its result (any object), its name, the call's and session's ids (texts, or nil), its
    # status ("completed", "failed", "cancelled"), arguments (a Hash or its JSON) and type of error.
    # Returns a Completion; raises nothing of RindBridge::Error: without a worker's answer the completion is degraded.
    def tool_completed(result, name:, call_id: nil, session_id: nil, status: 'completed', args: nil,
                       error_type: nil)
      deadline = Clock.now + @deadline
      given = { status: status, error_type: error_type, session_id: session_id, call_id: call_id }
      params = { result: result, name: name.to_s, **given.compact.transform_values(&:to_s), limit: NO_PREVIEW,
                 args: Request.arguments(args) }
      params.delete(:args) if params[:args].nil?
      projections = projections(params, deadline)
      Completion.from_worker(projections, preview: preview(result, name))
    rescue Error => e
      degraded(result, name, e)
    end

    # Returns the OutputPage of a stored output from line +offset+ and character +column+ (both from 1), at most
    # +limit+ lines; +part+ names a second output of the same call ("stderr"). Raises OutputMissing with a reason,
    # InvalidParams, StoreUnavailable, Unavailable.
    def read_output(session_id:, call_id:, offset: 1, column: 1, limit: 2000, part: '')
      place = { session_id: session_id.to_s, call_id: call_id.to_s, offset: offset, column: column, limit: limit }
      place[:part] = part.to_s unless part.to_s.empty?
      OutputPage.new(ask('read_output', place)) do |**from|
        read_output(session_id: session_id, call_id: call_id, limit: limit, part: part, **from)
      end
    end

    # Returns the pages of a stored output from its beginning, each read when it is asked for.
    def each_page(**place, &block)
      return to_enum(:each_page, **place) unless block

      read_output(**place).each_page(&block)
    end

    # Returns the ReplayPage of a session after sequence number +after+, at most +limit+ completions.
    # Raises InvalidParams, StoreUnavailable, Unavailable.
    def replay(session_id, after: 0, limit: 500)
      fields = ask('replay', { session_id: session_id.to_s, after: after, limit: limit })
      ReplayPage.new(fields) { |**from| replay(session_id, limit: limit, **from) }
    end

    # Returns the projection (a Hash, as in ReplayPage#items) that is saved for these ids, nil when there is none:
    # whoever resumes a session need not run that tool again. Raises as #replay does.
    def lookup(session_id:, call_id:)
      ask('lookup', { session_id: session_id.to_s, call_id: call_id.to_s })['item']
    end

    # Removes what is kept of a session; returns a Hash with what was removed. Raises as #replay does.
    def forget(session_id:)
      ask('forget', { session_id: session_id.to_s })
    end

    # Waits for a worker that answers. Returns true, or false when there is none before the deadline.
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
        return logger if logger.respond_to?(:call)

        lambda do |change|
          state = change[:state]
          text = "rind_bridge: worker #{[state, change[:reason]].compact.join(': ')}"
          next logger.public_send(QUIET.include?(state) ? :info : :warn, text) if logger

          $stderr.puts(text) if LOUD.include?(state)
        end
      end

      def finalizer(supervisor) = ->(_id) { supervisor.abandon }
    end

    private

    # Only the worker knows its structural tools for sure; asking it once keeps the first call right as well.
    def learns_to_pass?(result, name, deadline)
      return false unless Hash === result # BasicObject has no is_a?

      @supervisor.connect(deadline)
      Echo.passes?(result, name, structural_tools)
    end

    def worker_echo(head, limit, name, deadline)
      params = { result: head, limit: limit, name: name&.to_s }.compact
      answer = ask('ui_preview', params, deadline)
      answer.is_a?(String) ? answer : raise(ProtocolFault, 'the worker gave a preview that is no text')
    end

    # Returns the completion's preview, and remembers its text for a call of ui_preview about the same result.
    def preview(result, name)
      return result if Echo.passes?(result, name, structural_tools)

      head = Echo.head(result, Echo::LIMIT)
      @completed = [result.__id__, head]
      Echo.cut(head, Echo::LIMIT)
    end

    def degraded(result, name, error)
      @fallbacks += 1
      refused = error.is_a?(RemoteError)
      @supervisor.tell_once([error.class, error.code, error.fields.keys], :refused, error.message) if refused
      @supervisor.tell_once(:degraded, :degraded, "#{error.message}. #{ADVICE}") unless @logger
      Completion.degraded(result, preview: preview(result, name), echo: Echo.cut(Echo.head(result, Echo::LIMIT), Echo::LIMIT),
                                  error: error, limits: @supervisor.hello&.fetch('limits', nil) || {})
    end

    def projections(params, deadline)
      projections = ask('tool_completed', params, deadline)
      return projections if projections.is_a?(Hash) && Completion.fits?(projections)

      raise ProtocolFault, 'the worker gave no projections'
    end

    # Returns a reply's result. A request that the worker could not read goes out once more as a JSON-safe copy.
    def ask(method, params, deadline = Clock.now + @deadline)
      answer(Request.body(method, params), deadline)
    rescue RequestRefused
      answer(Request.safe_body(method, params), deadline)
    end

    # A request longer than the worker reads need not be sent to learn that.
    def answer(body, deadline)
      most = @supervisor.hello&.dig('limits', 'request_max_bytes')
      raise RequestTooLarge, "a request of #{body.bytesize} bytes; the worker reads #{most}" if most && body.bytesize > most

      reply = @supervisor.call(body, deadline)
      reply.key?('error') ? raise(RemoteError.from(reply['error'])) : reply['result']
    end
  end
end
