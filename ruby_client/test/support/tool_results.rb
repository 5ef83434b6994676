# frozen_string_literal: true

# Draws finished tool calls of every kind: always the same ones for the same seed.
class ToolResults
  Call = Struct.new(:tool, :args, :result)

  CHARACTERS = ["a", "Z", "0", " ", "\n", "\r\n", "\t", '"', '\\', '/', '<', "\u0000", "\e[31m", "\u007f", "\u0085", 'é',
                "e\u0301", "\u200b", "\u2028", "\u2029", "\ufeff", "\ud7ff", "\ue000", "\uffff", '界', '😀', "👨\u200d👩",
                "\u{10ffff}", '#{x}'].freeze
  NUMBERS = [0, -1, 2**63, 2**80, 0.1, -0.0, 1e15, 1e20, 5e-324, 1.7976931348623157e308].freeze
  PATHS = ['lib/a.rb', '/', 'ü 界/😀.txt', '', 'folder/', '../x', "a\nb/c\nd"].freeze

  def initialize(seed)
    @random = Random.new(seed)
  end

  def call
    kind = pick(%i[read_file read_text patch_file run_command grep view_image bash_output write_file overview odd])
    send(kind)
  end

  private

  def pick(list) = list[@random.rand(list.length)]

  def text(longest = 40)
    times = pick([1, 1, 1, 300])
    Array.new(@random.rand(longest)) { pick(CHARACTERS) }.join * times
  end

  def value(depth = 0)
    case @random.rand(depth < 3 ? 6 : 4)
    when 0 then text
    when 1 then pick(NUMBERS)
    when 2 then pick([nil, true, false])
    when 3 then @random.rand * 10**@random.rand(-20..20)
    when 4 then Array.new(@random.rand(4)) { value(depth + 1) }
    else Array.new(@random.rand(4)) { [text(5), value(depth + 1)] }.to_h
    end
  end

  # A Hash in any order of its keys, with keys that no mirror knows.
  def shuffled(hash) = hash.merge(text(5) => value).to_a.shuffle(random: @random).to_h

  def read_file
    result = pick([{ content: text(200) }, { content: '' }, { content: nil, error: text }, { error: text }, {}])
    args = pick([{ path: pick(PATHS), range: [1, @random.rand(1..9000)] }, { path: pick(PATHS) }, {}])
    Call.new('read_file', args, shuffled(result))
  end

  def read_text = Call.new('read_file', { path: pick(PATHS) }, pick([text, nil, [text], 42, true]))

  def patch_file
    diff = pick([{ added: @random.rand(99), removed: 0 }, { added: 1, removed: 2, hunks: 1 }, "+#{text[0, 60]}\n-#{text[0, 60]}\n" * 300])
    result = pick([{ ok: true, diff: diff }, { ok: false, error: text }, { ok: true }, { ok: true, error: nil, diff: nil }])
    Call.new('patch_file', { path: pick(PATHS), diff: text }, shuffled(result))
  end

  def run_command
    result = pick([{ result: text(2000), exit_status: @random.rand(256), cwd: pick(PATHS) }, { error: text }])
    Call.new('run_command', { command: text }, result)
  end

  def grep = Call.new('grep', { pattern: text }, { matches: Array.new(@random.rand(2000)) { { line: 1, text: 'x' } } })

  def view_image
    image = { type: 'image', data: [text(300)].pack('m0'), mimeType: 'image/png' }
    Call.new('view_image', { path: pick(PATHS) }, { content: [{ type: 'text', text: text }, image] })
  end

  def bash_output
    data = { task_id: 't', status: pick(%w[running completed]), exit_code: pick([nil, 0]), stdout: text(900), stderr: '' }
    Call.new('bash_output', { task_id: 't' }, { ok: true, tool: 'bash_output', data: data })
  end

  def write_file = Call.new('write_file', { path: pick(PATHS), content: text }, { content: text, ok: true })

  def overview = Call.new('file_overview', { path: pick(PATHS) }, shuffled(symbols: Array.new(3) { text(5) }))

  def odd = Call.new(pick(['', 'sleep', '界', :symbol]), {}, value)
end
