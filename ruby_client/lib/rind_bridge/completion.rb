# frozen_string_literal: true

require 'json'
require_relative 'json_safe'

module RindBridge
  # What RindBridge.tool_completed gives: every view of one finished tool.
  class Completion
    # The format of a degraded completion's model content: the whole result, as without the bridge.
    WHOLE_RESULT = 'whole_result'
    FROM_WORKER = %w[
      terminal_content model_content model_content_format model_content_policy attachments output replayed
    ].freeze

    # What must be there, and what it must be.
    NEEDED = {
      'terminal_content' => String, 'model_content' => String, 'model_content_policy' => Hash, 'attachments' => Array
    }.freeze

    # Says whether a worker's result has what a completion is made of.
    def self.fits?(projections)
      NEEDED.all? { |name, kind| projections[name].is_a?(kind) }
    end

    # +preview+ is a String, or the very object that was given when it passes through.
    attr_reader :preview
    # JSON texts within their limits; when degraded, the echo and the whole result.
    attr_reader :terminal_content, :model_content
    attr_reader :model_content_format
    # A Hash: truncated, total_bytes, total_lines and what else the worker says.
    attr_reader :model_content_policy
    # An Array of references.
    attr_reader :attachments
    # A Hash: path, bytes, lines, sha256 of the complete output, or +reason+ why there is none.
    attr_reader :output
    # Why no worker's answer is here (RindBridge::Error); nil when there is one.
    attr_reader :error

    alias policy model_content_policy

    # From a worker's result; +preview+ is Ruby's own.
    def self.from_worker(projections, preview:)
      new(preview: preview, **FROM_WORKER.to_h { |name| [name.to_sym, projections[name]] })
    end

    # Today's behaviour: the echo for the person, and for the model the whole result.
    def self.degraded(result, preview:, echo:, error:)
      content = whole(result)
      new(
        preview: preview, terminal_content: echo, model_content: content, model_content_format: WHOLE_RESULT,
        model_content_policy: { 'truncated' => false, 'total_bytes' => content.bytesize },
        attachments: attachments_of(result), output: { 'reason' => 'degraded' }, replayed: false, error: error
      )
    end

    # A text is itself; anything else is the JSON that this Ruby writes for it.
    def self.whole(result)
      return Utf8.of(result) if result.is_a?(String)

      text = result.to_json
      text.is_a?(String) ? Utf8.of(text) : raise(TypeError, 'to_json gave no text')
    rescue StandardError, SystemStackError
      JSON.generate(JsonSafe.copy(result), max_nesting: 0)
    end

    def self.attachments_of(result)
      return [] unless Hash === result # BasicObject has no is_a?

      given = result.fetch(:attachments) { result.fetch('attachments', nil) }
      given.is_a?(Array) ? given : []
    end
    private_class_method :whole, :attachments_of

    def initialize(preview:, terminal_content:, model_content:, model_content_format:, model_content_policy:,
                   attachments:, output:, replayed:, error: nil)
      @preview = preview
      @terminal_content = terminal_content
      @model_content = model_content
      @model_content_format = model_content_format
      @model_content_policy = model_content_policy
      @attachments = attachments
      @output = output
      @replayed = replayed
      @error = error
      freeze
    end

    # True when no worker's answer is in it.
    def degraded? = !@error.nil?

    # True when the model's side is what was saved for these ids before.
    def replayed? = @replayed == true

    def truncated? = @model_content_policy['truncated'] == true

    # Without the contents: a terminal shows this in irb and with a NoMethodError.
    def inspect
      facts = ["#{model_content.bytesize} bytes for the model"]
      facts << 'truncated' if truncated?
      facts << 'replayed' if replayed?
      facts << "degraded: #{error.class}" if degraded?
      "#<#{self.class} #{facts.join(', ')}>"
    end
  end
end
