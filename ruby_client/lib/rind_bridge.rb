# frozen_string_literal: true

require 'forwardable'
require 'json'
require 'set'
require 'shellwords'
%w[version clock errors utf8 json_safe echo excerpt completion pages request launch channel worker restart_policy gate
   supervisor client].each { |file| require_relative "rind_bridge/#{file}" }

# Bounds each finished tool result for the model, keeps the rest on disk, and shows a preview in the panel: the Ruby side.
#
#   RindBridge.start
#   RindBridge.install(Artificer)                  # Artificer.ui_preview now asks the worker
#   done = RindBridge.tool_completed(result, name: 'bash', call_id: 'c1', session_id: 's1')
#   done.preview; done.terminal_content; done.model_content; done.attachments; done.output
#
# All of it goes through one Client, which documents each call; programs that need more than one build their own.
module RindBridge
  # What takes the place of Artificer.ui_preview, and of nothing else: the original's signature and arity.
  module Artificer
    def ui_preview(result, limit = Echo::LIMIT, name: nil)
      RindBridge.ui_preview(result, limit, name: name)
    end
  end

  # One for each visibility that the original may have.
  REPLACEMENTS = %i[public private protected].to_h do |visibility|
    [visibility, Artificer.dup.tap { |copy| copy.send(visibility, :ui_preview) }]
  end
  private_constant :REPLACEMENTS

  @lock = Mutex.new

  class << self
    extend Forwardable

    def_delegators :client, :ui_preview, :tool_completed, :read_output, :each_page, :replay, :lookup, :forget, :status

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

    # The client of the module's functions; made with the defaults when nobody called start.
    def client
      @client || @lock.synchronize { @client ||= Client.new }
    end

    # Puts the bridge before +artificer+'s own ui_preview (a module or class with singleton methods, or any object),
    # as visible as that was. Doing it again changes nothing.
    def install(artificer)
      methods = artificer.singleton_class
      visibility = %i[private protected].find { |kind| methods.public_send(:"#{kind}_method_defined?", :ui_preview) }
      methods.prepend(REPLACEMENTS.fetch(visibility || :public))
      artificer
    end
  end
end
