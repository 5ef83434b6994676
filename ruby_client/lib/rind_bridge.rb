# frozen_string_literal: true

require_relative 'rind_bridge/artificer'
require_relative 'rind_bridge/client'
require_relative 'rind_bridge/version'

# One finished tool call, several honest projections: the Ruby side.
#
#   RindBridge.start
#   RindBridge.install(Artificer)                  # Artificer.ui_preview now asks the worker
#   done = RindBridge.tool_completed(result, name: 'bash', call_id: 'c1', session_id: 's1')
#   done.preview; done.terminal_content; done.model_content; done.attachments; done.output
#
# All of it goes through one Client, which documents each call; programs that need more than one build their own.
module RindBridge
  @lock = Mutex.new

  class << self
    # Takes Client's settings; ends a worker started earlier. Spawns nothing yet.
    def start(**settings)
      client = Client.new(**settings)
      previous = @lock.synchronize do
        @client.tap { @client = client }
      end
      previous&.stop
      client
    end

    def stop = @client&.stop

    def ui_preview(result, limit = Echo::LIMIT, name: nil)
      client.ui_preview(result, limit, name: name)
    end

    def tool_completed(result, name:, call_id: nil, session_id: nil, status: 'completed', args: nil,
                       error_type: nil)
      client.tool_completed(result, name: name, call_id: call_id, session_id: session_id, status: status,
                                    args: args, error_type: error_type)
    end

    def read_output(session_id:, call_id:, offset: 1, column: 1, limit: 2000)
      client.read_output(session_id: session_id, call_id: call_id, offset: offset, column: column, limit: limit)
    end

    def each_page(session_id:, call_id:, limit: 2000, &block)
      client.each_page(session_id: session_id, call_id: call_id, limit: limit, &block)
    end

    def replay(session_id, after: 0, limit: 500)
      client.replay(session_id, after: after, limit: limit)
    end

    def status = client.status

    # The client of the module's functions; made with the defaults when nobody called start.
    def client
      @client || @lock.synchronize { @client ||= Client.new }
    end
  end
end
