# frozen_string_literal: true

module RindBridge
  # A copy of any Ruby value that JSON.generate takes: for values that it refuses as they are (NaN, bad bytes,
  # recursion, more than 100 levels, a +to_json+ that raises or does not give JSON).
  #
  # Hash, Array and the scalars of JSON keep their shape. What JSON has no word for becomes the text that Ruby
  # prints for it: "NaN", "[...]" for a structure inside itself, +inspect+ for what lies too deep.
  class JsonSafe
    # As deep as Ruby's json reads and writes by itself; the worker reads 200.
    MAX_DEPTH = 100
    # From 2.9 on json warns of each text in ASCII-8BIT that is not plain ASCII; from 3.0 on it raises.
    WARNS = JSON::VERSION.split('.').first(2).map(&:to_i).then { |version| (version <=> [2, 9]) >= 0 && version[0] < 3 }
    KERNEL_CLASS = Kernel.instance_method(:class)
    MODULE_NAME = Module.instance_method(:name)
    private_constant :WARNS, :KERNEL_CLASS, :MODULE_NAME

    class << self
      # Takes any object; returns nil, true, false, Integer, finite Float, valid UTF-8 String, Array or Hash of these.
      # Raises nothing of StandardError.
      def copy(value) = new.copy(value, 0)

      # Returns whether this json would warn of a text in it. Raises SystemStackError for a structure inside itself.
      def warned_of?(value)
        return false unless WARNS

        case value
        when String then value.encoding == Encoding::ASCII_8BIT && !value.ascii_only?
        when Hash then value.any? { |key, item| warned_of?(key) || warned_of?(item) }
        when Array then value.any? { |item| warned_of?(item) }
        else false
        end
      end

      # The text of an object's own to_s in valid UTF-8; what cannot be printed is named.
      def text(value)
        text = value.to_s
        text.is_a?(String) ? Utf8.of(text) : unprintable(value, TypeError.new)
      rescue StandardError, SystemStackError => e
        unprintable(value, e)
      end

      # What stands for an object that cannot even be printed. Works for a BasicObject too.
      def unprintable(value, error)
        "#<#{name_of(KERNEL_CLASS.bind_call(value))}: not printable, #{name_of(error.class)}>"
      end

      private

      def name_of(klass) = Utf8.of(MODULE_NAME.bind_call(klass) || 'a class without a name')
    end

    def initialize
      @ancestors = {}.compare_by_identity
    end

    def copy(value, depth)
      case value
      when nil, true, false, Integer then value
      when String, Symbol then Utf8.of(value.to_s)
      when Float then value.finite? ? value : value.to_s
      when Hash then nested(value, depth, '{...}') { copy_hash(value, depth + 1) }
      when Array then nested(value, depth, '[...]') { value.map { |item| copy(item, depth + 1) } }
      else other(value, depth)
      end
    rescue StandardError, SystemStackError => e
      JsonSafe.unprintable(value, e)
    end

    private

    # Ruby's inspect writes a structure inside itself as "[...]" or "{...}"; so does this.
    def nested(value, depth, again)
      return again if @ancestors.key?(value)
      return Utf8.of(value.inspect) if depth >= MAX_DEPTH

      @ancestors[value] = true
      yield.tap { @ancestors.delete(value) }
    end

    def copy_hash(hash, depth)
      hash.each_with_object({}) { |(key, item), copied| copied[JsonSafe.text(key)] = copy(item, depth) }
    end

    # An object is what its to_json says, if that is JSON; else what its to_s says.
    def other(value, depth)
      copy(JSON.parse(value.to_json, max_nesting: MAX_DEPTH), depth)
    rescue StandardError, SystemStackError
      JsonSafe.text(value)
    end
  end
end
