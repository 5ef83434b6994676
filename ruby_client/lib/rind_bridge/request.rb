# frozen_string_literal: true

module RindBridge
  # The JSON of a request without version and id, which the worker's connection puts before it.
  module Request
    module_function

    # Takes a tool's arguments: a Hash, or the JSON text that the model wrote. Returns a Hash; nil for anything else,
    # since arguments only help the projections and are no reason to do without them.
    def arguments(args)
      args = JSON.parse(Utf8.of(args)) if String === args # BasicObject has no is_a?
      args if Hash === args
    rescue JSON::ParserError
      nil
    end

    # Takes a method's name and its params by name, nil standing for "not given" except in +result+. Returns one
    # line of JSON as it follows the id: the quick way when the values allow it, else from a JSON-safe copy
    # (which also carries the two levels that a result of 99 or 100 has too many once it is inside a request).
    def body(method, params)
      return safe_body(method, params) if JsonSafe.warned_of?(params)

      line = JSON.generate({ method: method, params: params })
      line.include?("\n") ? safe_body(method, params) : line.delete_prefix('{')
    rescue StandardError, SystemStackError
      safe_body(method, params)
    end

    # The same from a JSON-safe copy, for values whose own to_json does not give JSON.
    def safe_body(method, params)
      copies = params.transform_values { |value| JsonSafe.copy(value) }
      JSON.generate({ method: method, params: copies }, max_nesting: 0).delete_prefix('{')
    end
  end
end
