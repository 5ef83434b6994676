# frozen_string_literal: true

# The contract of ui_preview as Ruby itself computes it. One JSON text per line in, one per line out:
#   "versions"                            what this Ruby is
#   "printable"                           run lengths of the code points that inspect escapes and prints, in turn
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

# A surrogate cannot stand in a Ruby string of UTF-8, so it counts as escaped; quote and backslash as printed.
def printed?(code)
  return false if (0xD800..0xDFFF).cover?(code)

  text = [code].pack('U')
  ['"', '\\'].include?(text) || text.inspect == "\"#{text}\""
end

def printable
  runs = (0..0x10FFFF).chunk { |code| printed?(code) }.map { |_, run| run.size }
  printed?(0) ? [0, *runs] : runs
end

ANSWERS = { 'versions' => method(:versions), 'printable' => method(:printable) }.freeze

$stdout.sync = true
while (line = $stdin.gets)
  question = JSON.parse(line, **UNCHECKED)
  answer = question.is_a?(String) ? ANSWERS.fetch(question).call : question.map { |item| ui_preview(*item) }
  puts JSON.generate(answer)
end
