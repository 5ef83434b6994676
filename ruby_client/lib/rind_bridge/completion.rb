# frozen_string_literal: true

module RindBridge
  # What RindBridge.tool_completed gives, frozen: every view of one finished tool.
  #
  # preview::               a String, or the very object that was given when it passes through.
  # terminal_content, model_content:: JSON texts within their limits; when degraded, the echo and an Excerpt.
  # model_content_policy::  a Hash: truncated, total_bytes, total_lines and what else the worker says.
  # attachments::           an Array of references.
  # output::                a Hash: path, bytes, lines, sha256 of the complete output, or +reason+ why there is none.
  # error::                 why no worker's answer is here (RindBridge::Error); nil when there is one.
  Completion = Struct.new(
    :preview, :terminal_content, :model_content, :model_content_format, :model_content_policy, :attachments, :output,
    :replayed, :error, keyword_init: true
  ) do
    # Returns whether a worker's result has what a completion is made of.
    def self.fits?(projections)
      { 'terminal_content' => String, 'model_content' => String, 'model_content_policy' => Hash,
        'attachments' => Array }.all? { |name, kind| projections[name].is_a?(kind) }
    end

    # From a worker's result; +preview+ is Ruby's own.
    def self.from_worker(projections, preview:)
      names = members.map(&:to_s) - %w[preview error]
      new(preview: preview, **projections.slice(*names).transform_keys(&:to_sym))
    end

    # Without a worker: the echo for the person, and for the model the result within +limits+ (see Excerpt).
    def self.degraded(result, preview:, echo:, error:, limits:)
      excerpt = Excerpt.new(result, limits)
      new(
        preview: preview, terminal_content: echo, model_content: excerpt.content,
        model_content_format: excerpt.truncated ? self::RESULT_EXCERPT : self::WHOLE_RESULT,
        model_content_policy: { 'truncated' => excerpt.truncated, 'total_bytes' => excerpt.total_bytes },
        attachments: attachments_of(result), output: { 'reason' => 'degraded' }, replayed: false, error: error
      )
    end

    def self.attachments_of(result)
      return [] unless Hash === result # BasicObject has no is_a?

      given = result.fetch(:attachments) { result.fetch('attachments', nil) }
      given.is_a?(Array) ? given : []
    end
    private_class_method :attachments_of

    alias_method :policy, :model_content_policy

    def initialize(**)
      super
      freeze
    end

    # True when no worker's answer is in it.
    def degraded? = !error.nil?

    # True when the model's side is what was saved for these ids before.
    def replayed? = replayed == true

    def truncated? = policy['truncated'] == true

    # Without the contents: a terminal shows this in irb and with a NoMethodError.
    def inspect
      facts = ["#{model_content.bytesize} bytes for the model"]
      facts << 'truncated' if truncated?
      facts << 'replayed' if replayed?
      facts << "degraded: #{error.class}" if degraded?
      "#<#{self.class} #{facts.join(', ')}>"
    end
  end

  # The formats of a degraded completion's model content.
  Completion::WHOLE_RESULT = 'whole_result'
  Completion::RESULT_EXCERPT = 'result_excerpt'
end
