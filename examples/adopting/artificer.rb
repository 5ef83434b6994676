# frozen_string_literal: true

require 'json'
require 'securerandom'

# The call sites of an oracle as they are before the bridge. docs/adopting.md moves a copy of this file onto it.
class Artificer
  class << self
    # What sends status frames to the panel: anything with <<.
    attr_accessor :panel

    # Runs a call as the provider's API wrote it. Returns the result and the messages with those of the tool.
    def execute_standard(call, messages)
      name = call.dig('function', 'name')
      args = JSON.parse(call.dig('function', 'arguments'), symbolize_names: true)
      started = now
      result = yield name, args
      seconds = now - started
      safe_result = repaired(result)
      status(name, seconds, ui_preview(safe_result, name: name))
      tool_message = { role: 'tool', tool_call_id: call['id'], content: safe_result.to_json }
      [result, messages + [tool_message, *vision_messages(images_in(safe_result))]]
    end

    # Runs a call that was found in the model's text, which may have no id. Returns the same.
    def execute_fallback(call, messages)
      id = call[:id] || SecureRandom.uuid
      started = now
      result = yield call[:name], call[:args]
      seconds = now - started
      safe_result = repaired(result)
      status(call[:name], seconds, ui_preview(safe_result, name: call[:name]))
      tool_message = { role: 'tool', tool_call_id: id, content: safe_result.to_json }
      [result, messages + [tool_message, *vision_messages(images_in(safe_result))]]
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def status(name, seconds, preview)
      data = { name: name, execution_time: seconds.round(3), result: preview }
      payload = { type: 'tool_completed', data: data, uuid: SecureRandom.uuid }
      panel << JSON.generate(type: 'stream', method: 'status', payload: payload)
    end

    def ui_preview(result, limit = 4000, name: nil)
      return result if name.to_s == 'read_file' && result.is_a?(Hash)

      text = result.is_a?(Hash) ? (result[:content] || result['content'] || result.to_json).to_s : result.to_s
      text.length <= limit ? text : "#{text[0, [limit - 3, 0].max]}..."
    end

    def repaired(value)
      case value
      when String then value.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      when Array then value.map { |item| repaired(item) }
      when Hash then value.transform_values { |item| repaired(item) }
      else value
      end
    end

    # The media types and the base64 of the images that a tool gave.
    def images_in(result)
      blocks = result.is_a?(Hash) && result[:content].is_a?(Array) ? result[:content] : []
      blocks.select { |block| block[:type] == 'image' }.map { |block| block.values_at(:mimeType, :data) }
    end

    def vision_messages(images)
      return [] if images.empty?

      parts = images.map { |type, data| { type: 'image_url', image_url: { url: "data:#{type};base64,#{data}" } } }
      [{ role: 'user', content: parts }]
    end
  end
end
