# frozen_string_literal: true

# The contract of ui_preview as Ruby itself computes it. One JSON text per line in, one per line out:
#   "versions"                            what this Ruby is
#   [[result, limit, name], ...]          for each: [text, refusal]; text is null where the object passes through
# refusal names the error that to_json raised, else null; text is then what it prints with its two checks switched off.

require 'json'

UNCHECKED = { allow_nan: true, max_nesting: 0 }.freeze

def print_whole(result)
  return [result.to_s, nil] unless result.is_a?(Hash)

  [(result['content'] || result.to_json).to_s, nil]
rescue JSON::JSONError => e
  [JSON.generate(result, UNCHECKED), e.class.name]
end

def ui_preview(result, limit, name)
  return [nil, nil] if name == 'read_file' && result.is_a?(Hash)

  text, refusal = print_whole(result)
  [text.length > limit ? "#{text[0, limit - 3]}..." : text, refusal]
end

def versions
  { ruby: RUBY_VERSION, json: JSON::VERSION, unicode: RbConfig::CONFIG['UNICODE_VERSION'] }
end

$stdout.sync = true
while (line = $stdin.gets)
  question = JSON.parse(line, **UNCHECKED)
  answer = question == 'versions' ? versions : question.map { |item| ui_preview(*item) }
  puts JSON.generate(answer)
end
