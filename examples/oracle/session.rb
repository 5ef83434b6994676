# frozen_string_literal: true

require 'json'
require 'securerandom'
require 'time'

module Oracle
  # What one finished tool became: the row that the demo shows to a person.
  Row = Struct.new(:tool, :raw_bytes, :completion, :what, keyword_init: true)

  # Runs tools, completes each through the bridge, and writes the status frames that the Swift app would get.
  class Session
    attr_reader :id, :rows

    def initialize(frames_path)
      @id = "demo-#{Process.pid}"
      @frames = File.open(frames_path, 'w')
      @request_id = SecureRandom.uuid
      @rows = []
    end

    # Runs the block as the tool +name+ and gives back its completion.
    def run(name, args, what: args.values.first)
      write_frame('tool_starting', name: name, args: JSON.generate(args))
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      result = yield
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      completion = RindBridge.tool_completed(result, name: name, args: args, session_id: @id,
                                                     call_id: format('call-%03d', @rows.size + 1))
      write_frame('tool_completed', name: name, execution_time: seconds.round(6), result: completion.preview)
      @rows << Row.new(tool: name, raw_bytes: JSON.generate(result).bytesize, completion: completion, what: what.to_s)
      completion
    end

    def close
      @frames.close
    end

    private

    def write_frame(type, data)
      payload = { type: type, data: data, timestamp: Time.now.utc.iso8601(3), uuid: SecureRandom.uuid }
      @frames.puts JSON.generate(type: 'stream', method: 'status', payload: payload, request_id: @request_id)
    end
  end
end
