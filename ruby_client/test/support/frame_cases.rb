# frozen_string_literal: true

# One finished tool call and what a person is to see of it: the file's name, the text, how it went.
FrameCase = Struct.new(:tool, :args, :result, :header, :body, :card, :structural, keyword_init: true) do
  def structural_tools = structural || ['read_file']

  # What the panel shows after the first frame and after the second.
  def shown
    [{ header: header, body: '', card: '' }, { header: header, body: body, card: card }]
  end
end

long_diff = "--- a/lib/a.rb\n+++ b/lib/a.rb\n@@ -1,600 +1,600 @@\n#{"-old line\n" * 600}#{"+new line\n" * 600}"
overview = { symbols: ['Echo', 'Echo.text', 'Echo.cut'], lines: 120 }
patch = { path: 'lib/a.rb', diff: '<<<<<<< SEARCH' }

FRAME_CASES = {
  read_file: FrameCase.new(
    tool: 'read_file', args: { path: 'lib/a.rb', range: [1, 3] },
    result: { content: "a\nb\nc\n", path: 'lib/a.rb', range: [1, 3] },
    header: 'a.rb', body: "a\nb\nc\n", card: '✓ ok'
  ),
  read_file_long: FrameCase.new(
    tool: 'read_file', args: { path: '/srv/app/log/long.log' }, result: { content: "line\n" * 1200 },
    header: 'long.log', body: "line\n" * 1200, card: '✓ ok'
  ),
  read_file_empty: FrameCase.new(
    tool: 'read_file', args: { path: 'empty.txt' }, result: { content: '' },
    header: 'empty.txt', body: '', card: '✓ ok'
  ),
  read_file_error: FrameCase.new(
    tool: 'read_file', args: { path: 'x' }, result: { error: "File not found: x\nDid you mean?\n  y" },
    header: 'x', body: "File not found: x\nDid you mean?\n  y", card: "✗ File not found: x\nDid you mean?\n  y"
  ),
  read_file_without_a_path: FrameCase.new(
    tool: 'read_file', args: {}, result: { error: 'path is missing' },
    header: '', body: 'path is missing', card: '✗ path is missing'
  ),
  read_file_of_every_character: FrameCase.new(
    tool: 'read_file', args: { path: 'ü 界/😀.txt' },
    result: { content: "\u0000\u001b\u007f\u0085\u2028\u2029\ufeff\ue000\u{10ffff}\r\n\"\\/é界👨‍👩" },
    header: '😀.txt', body: "\u0000\u001b\u007f\u0085\u2028\u2029\ufeff\ue000\u{10ffff}\r\n\"\\/é界👨‍👩", card: '✓ ok'
  ),
  read_file_with_numbers_of_every_size: FrameCase.new(
    tool: 'read_file', args: { path: 'n' }, result: { size: 2**80, score: 1.0, tiny: 5e-324, content: 'x' },
    header: 'n', body: 'x', card: '✓ ok'
  ),
  read_file_that_gives_a_text: FrameCase.new(
    tool: 'read_file', args: { path: 'lib/a.rb' }, result: 'plain text', header: 'a.rb', body: 'plain text', card: ''
  ),
  content_of_another_tool: FrameCase.new(
    tool: 'write_file', args: { path: 'a/b' }, result: { content: '', ok: true }, header: 'b', body: '', card: ''
  ),
  command: FrameCase.new(
    tool: 'run_command', args: { command: 'make' }, result: { result: "ok\n", exit_status: 0, cwd: '/srv/app' },
    header: '', body: '{"result":"ok\n","exit_status":0,"cwd":"/srv/app"}', card: ''
  ),
  command_denied: FrameCase.new(
    tool: 'run_command', args: { command: 'rm' }, result: { error: 'Denied path' },
    header: '', body: '{"error":"Denied path"}', card: ''
  ),
  inspected_list: FrameCase.new(
    tool: 'grep', args: { pattern: 'x' }, result: { content: ["\e[1m\u0000", [2**70], nil, 1e20, "\#{x}"] },
    header: '', body: %q(["\e[1m\u0000", [1180591620717411303424], nil, 1.0e+20, "\#{x}"]), card: ''
  ),
  long_text: FrameCase.new(
    tool: 'run_command', args: { command: 'yes 界' }, result: { content: "界\n" * 3000 },
    header: '', body: "#{("界\n" * 3000)[0, 3997]}...", card: ''
  ),
  nothing: FrameCase.new(tool: 'sleep', args: { seconds: 1 }, result: nil, header: '', body: '', card: ''),
  number: FrameCase.new(tool: 'count', args: {}, result: 1.0e-05, header: '', body: '1.0e-05', card: ''),
  patch_file: FrameCase.new(
    tool: 'patch_file', args: patch, result: { ok: true, diff: { added: 3, removed: 1 } },
    header: 'a.rb', body: '{"ok":true,"diff":{"added":3,"removed":1}}', card: '✓ ok +3 -1'
  ),
  patch_file_refused: FrameCase.new(
    tool: 'patch_file', args: patch, result: { ok: false, error: 'no match' },
    header: 'a.rb', body: '{"ok":false,"error":"no match"}', card: '✗ no match'
  ),
  patch_file_long: FrameCase.new(
    tool: 'patch_file', args: patch, result: { ok: true, diff: long_diff },
    header: 'a.rb', body: "#{JSON.generate(ok: true, diff: long_diff)[0, 3997]}...", card: ''
  ),
  patch_file_long_structural: FrameCase.new(
    tool: 'patch_file', args: patch, result: { ok: true, diff: long_diff }, structural: %w[read_file patch_file],
    header: 'a.rb', body: '', card: '✓ ok +600 -600'
  ),
  file_overview: FrameCase.new(
    tool: 'file_overview', args: { path: 'lib/echo.rb' }, result: overview,
    header: 'echo.rb', body: '{"symbols":["Echo","Echo.text","Echo.cut"],"lines":120}', card: ''
  ),
  file_overview_structural: FrameCase.new(
    tool: 'file_overview', args: { path: 'lib/echo.rb' }, result: overview, structural: %w[read_file file_overview],
    header: 'echo.rb', body: '', card: ''
  )
}.freeze
