# frozen_string_literal: true

module RindBridge
  # Everything that this client raises. +ui_preview+ and +tool_completed+ raise none of these: they fall back.
  class Error < StandardError; end

  # A setting that cannot be: the caller of +start+ is to blame.
  class InvalidSetting < Error
    # Raises when one of the +settings+ is no number or less than +least+.
    def self.check(least, **settings)
      settings.each do |name, value|
        next if value.is_a?(Numeric) && value >= least

        raise self, "#{name} must be a number, at least #{least}, not #{value.inspect}"
      end
    end
  end

  # No worker can be asked now: not installed, stopped, restarting, or busy until the deadline.
  class Unavailable < Error; end

  # The worker did not complete its reply before the deadline. Its pipe is not used again.
  class DeadlinePassed < Unavailable; end

  # The worker ended before it had replied.
  class WorkerDied < Unavailable; end

  # What the worker wrote is not a reply to what it was asked.
  class ProtocolFault < Unavailable; end

  # The worker answered with an error; +code+ and +data+ are those of JSON-RPC. The message names the fields at
  # fault, since it is often all that a log keeps; what a tool gave is never in it.
  class RemoteError < Error
    attr_reader :code, :data

    def initialize(message, code: nil, data: nil)
      @code = code
      @data = data
      super([message, *fields.map { |name, fault| "#{name}: #{fault}" }].join('; '))
    end

    # A Hash: what is wrong with each parameter at fault, by its name.
    def fields
      fields = data.is_a?(Hash) ? data['fields'] : nil
      fields.is_a?(Hash) ? fields : {}
    end

    # Returns the class for the code of a reply's +error+ member, filled from it.
    def self.from(error)
      error = {} unless error.is_a?(Hash)
      code = error['code']
      kind = REMOTE_ERRORS.fetch(code, RemoteError)
      kind.new("#{error['message'] || 'error without a message'} (#{code.inspect})", code: code, data: error['data'])
    end
  end

  # The line was not JSON, or not a request. This client or an odd +to_json+ is to blame.
  class RequestRefused < RemoteError; end

  # Parameters that the method does not take; +data+ names the fields. The caller is to blame.
  class InvalidParams < RemoteError; end

  # The request is longer than the worker reads.
  class RequestTooLarge < RemoteError; end

  # A stored output is gone; +reason+ says why (expired, quota, never_stored, failed, damaged).
  class OutputMissing < RemoteError
    def reason = data.is_a?(Hash) ? data['reason'] : nil
  end

  # The worker's home cannot be read or written.
  class StoreUnavailable < RemoteError; end

  # The codes of the JSON-RPC 2.0 specification, section 5.1, and the worker's own.
  REMOTE_ERRORS = {
    -32_700 => RequestRefused,
    -32_600 => RequestRefused,
    -32_602 => InvalidParams,
    -32_001 => RequestTooLarge,
    -32_002 => OutputMissing,
    -32_003 => StoreUnavailable
  }.freeze
end
