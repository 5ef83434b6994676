# frozen_string_literal: true

module RindBridge
  # +ui_preview+ in Ruby alone.
  #
  # The contract it replaces, with structural tools by setting instead of one by name:
  #
  #   return result if name.to_s == 'read_file' && result.is_a?(Hash)
  #   text = result.is_a?(Hash) ? (result[:content] || result['content'] || result.to_json).to_s : result.to_s
  #   text.length <= limit ? text : text[0, [limit - 3, 0].max] + '...'
  #
  # What only Ruby can print, Ruby prints: the text comes from this process's own to_s, inspect and to_json,
  # so it is right for every version of Ruby, of json, and under whatever ActiveSupport put in their place.
  # Where the original gives a text, this gives the same text in valid UTF-8; where the original raises because
  # of what it was to print, this prints what it can.
  module Echo
    # What the panel shows of one tool, in characters (the contract's default).
    LIMIT = 4000
    # Structural tools as long as no worker has said otherwise.
    STRUCTURAL_TOOLS = ['read_file'].freeze
    ELLIPSIS = '...'
    # The most bytes that one character of UTF-8 has.
    CHARACTER_BYTES = 4

    module_function

    # Returns the very object for a structural tool's Hash, else a String. Raises ArgumentError for a +limit+ that
    # cannot be compared with a length, as the original does; nothing else of StandardError.
    def ui_preview(result, limit = LIMIT, name: nil, structural_tools: STRUCTURAL_TOOLS)
      passes?(result, name, structural_tools) ? result : cut(head(result, limit), limit)
    end

    def passes?(result, name, structural_tools)
      structural_tools.include?(name.to_s) && result.is_a?(Hash)
    rescue NoMethodError # a BasicObject has neither method, and is no Hash
      false
    end

    # Returns a text in valid UTF-8 that #cut makes the echo of: no longer than the cut needs, so that a megabyte
    # of content costs what four kilobytes cost.
    def head(result, limit)
      text = render(result)
      plain_head(text, limit) || cut(text, limit)
    end

    # Cuts to +limit+ characters, in the text's own encoding, and returns valid UTF-8.
    def cut(text, limit)
      return Utf8.of(text) if text.length <= limit

      Utf8.of(text[0, [limit - ELLIPSIS.length, 0].max]) + ELLIPSIS
    end

    # The text as the original prints it, of any length and encoding.
    def render(result)
      text = result.is_a?(Hash) ? (content_of(result) || result.to_json).to_s : result.to_s
      text.is_a?(String) ? text : JsonSafe.unprintable(result, TypeError.new)
    rescue StandardError, SystemStackError => e
      rescued_text(result, e)
    end

    def content_of(hash) = hash[:content] || hash['content']

    # The original would have raised. A Hash without content is shown as what JSON can say of it.
    def rescued_text(result, error)
      return JsonSafe.unprintable(result, error) unless Hash === result # BasicObject has no is_a?

      copied = JsonSafe.copy(content_of(result) || result)
      copied.is_a?(String) ? copied : JSON.generate(copied, max_nesting: 0)
    rescue StandardError, SystemStackError => e
      JsonSafe.unprintable(result, e)
    end

    # The first limit + 1 characters of a UTF-8 text, found without a walk over the rest; nil when that part
    # is not clean UTF-8, so that the cut has to count as the original does.
    def plain_head(text, limit)
      return unless limit.is_a?(Integer) && text.encoding == Encoding::UTF_8

      wanted = [limit, 0].max + 1
      head = text.bytesize > wanted * CHARACTER_BYTES ? text.byteslice(0, wanted * CHARACTER_BYTES) : text
      head = head[0, wanted] if head.bytesize > wanted
      head if head.valid_encoding?
    end
    private_class_method :content_of, :rescued_text, :plain_head
  end
end
