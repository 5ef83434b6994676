# frozen_string_literal: true

# An oracle in small: it runs real tools on this checkout, completes each through the bridge, checks what it got,
# and shows a person what happened. Run it with bin/demo.

require 'tmpdir'
require 'rind_bridge'
require_relative 'oracle/tools'
require_relative 'oracle/session'
require_relative 'oracle/report'

Tools = Oracle::Tools
LONG_FILE = 'tests/contract/ui_preview.json'

# Follows next_offset to the end of the file and gives back the pages joined.
def read_to_end(session, path)
  last = File.foreach(path).count
  offset = 1
  pages = +''
  while offset
    args = { path: path, range: [offset, last] }
    completion = session.run('read_file', args, what: "#{path} from line #{offset}") { Tools.read_file(**args) }
    page = JSON.parse(completion.model_content)
    pages << page.dig('data', 'content')
    offset = page.dig('meta', 'next_offset')
  end
  pages
end

def run_commands(session)
  ['git log -p', 'seq 100000', 'ls no-such-file; exit 3'].each do |command|
    session.run('run_command', { command: command }) { Tools.run_command(command: command) }
  end
end

def patch_scratch_copy(session, folder)
  path = File.join(folder, 'pyproject.toml')
  FileUtils.cp('pyproject.toml', path)
  diff = "<<<<<<< SEARCH\nname = \"rind-bridge\"\n=======\nname = \"rind-bridge-patched\"\n>>>>>>> REPLACE\n"
  session.run('patch_file', { path: path, diff: diff }) { Tools.patch_file(path: path, diff: diff) }
end

def poll_background_task(session)
  command = 'echo started; sleep 0.4; seq 20000; echo done'
  task = Oracle::Task.new('task-1', command)
  sleep 0.2
  session.run('bash_output', { task_id: 'task-1' }, what: 'background task, first poll') { task.poll }
  sleep 0.6
  session.run('bash_output', { task_id: 'task-1' }, what: 'background task, second poll') { task.poll }
end

def search_and_look(session, folder)
  args = { pattern: '"', paths: [LONG_FILE] }
  session.run('grep', args, what: %(grep '"' #{LONG_FILE})) { Tools.grep(**args) }
  image = Tools.write_png(File.join(folder, 'gradient.png'), 256)
  session.run('view_image', { path: image }, what: 'an image of 256 x 256') { Tools.view_image(path: image) }
end

# Kills the worker as a crash would, and completes one more tool.
def survive_a_crash(session)
  pid = RindBridge.status[:pid]
  Process.kill(:KILL, pid)
  session.run('run_command', { command: 'echo the turn goes on' }) { Tools.run_command(command: 'echo the turn goes on') }
  pid
end

Dir.mktmpdir('rind-bridge-demo') do |folder|
  home = ENV.fetch('RIND_BRIDGE_HOME') { File.expand_path('../tmp/demo-home', __dir__) }
  frames = File.expand_path('../tmp/demo-frames.jsonl', __dir__)
  FileUtils.mkdir_p(File.dirname(frames))
  RindBridge.start(home: home)
  session = Oracle::Session.new(frames)

  session.run('read_file', { path: '.ci/run' }) { Tools.read_file(path: '.ci/run') }
  pages = read_to_end(session, LONG_FILE)
  run_commands(session)
  search_and_look(session, folder)
  patch_scratch_copy(session, folder)
  poll_background_task(session)
  killed = survive_a_crash(session)
  session.close

  report = Oracle::Report.new(session.rows, frames)
  report.table
  report.check('the pages of the long file, joined, are the file', pages == File.read(LONG_FILE, encoding: Encoding::UTF_8))
  report.check("the worker #{killed} was killed with SIGKILL, and the turn went on",
               session.rows.last.completion.preview.include?('the turn goes on'))
  report.frames
  RindBridge.stop
  exit report.success?
end
