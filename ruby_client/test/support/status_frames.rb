# frozen_string_literal: true

require 'json'

# The status frames that an oracle streams to the panel, with a clock and ids that stand still.
module StatusFrames
  TIMESTAMP = '2026-01-01T00:00:00.000Z'
  UUID = '00000000-0000-4000-8000-000000000001'
  REQUEST_ID = 'request-1'

  module_function

  # The model writes a call's arguments as a JSON text, so that is what the panel gets.
  def starting(name, args)
    frame('tool_starting', name: name, args: JSON.generate(args))
  end

  # +preview+ is what RindBridge.ui_preview gave.
  def completed(name, preview)
    frame('tool_completed', name: name, execution_time: 0.25, result: preview)
  end

  def frame(type, data)
    payload = { type: type, data: data, timestamp: TIMESTAMP, uuid: UUID }
    JSON.generate(type: 'stream', method: 'status', payload: payload, request_id: REQUEST_ID)
  end
end
