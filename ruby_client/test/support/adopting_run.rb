# frozen_string_literal: true

# Runs an oracle (its folder is the first argument) on real tools in a project (the second), and prints as JSON what the
# panel and the model got. With a third argument: the mean seconds of so many calls.
$stdout.binmode
folder, project, times = ARGV
require File.join(folder, 'artificer')
require File.join(folder, 'tools')

tools = ProjectTools.new(project)
Artificer.panel = []
Artificer.session_id = 'conversation-1' if Artificer.respond_to?(:session_id=)
calls = [
  ['read_file', { path: 'a.rb' }], ['run_command', { command: 'seq 20000; exit 3' }],
  ['run_command', { command: 'printf "\xff ok"' }], ['file_overview', { path: 'a.rb' }], ['view_image', { path: 'i.png' }],
  ['read_file', { path: '../secret' }]
]
run = lambda do |name, args, id, standard|
  done = tools.method(:call)
  if standard
    Artificer.execute_standard({ 'id' => id, 'function' => { 'name' => name, 'arguments' => JSON.generate(args) } }, [], &done)
  else
    Artificer.execute_fallback({ id: id, name: name, args: args }, [], &done)
  end.last
end

messages = calls.flat_map.with_index { |(name, args), index| run.call(name, args, "functions.#{name}:#{index}", index.even?) }
continued = []
place = JSON.parse(messages.find { |message| message[:tool_call_id] == 'functions.run_command:1' }[:content]).dig('meta', 'continue')
while place
  name, args = place.values_at('tool', 'args')
  page = JSON.parse(run.call(name, args.transform_keys(&:to_sym), "more-#{continued.length}", true).first[:content])
  continued << page
  offset = page.dig('meta', 'next_offset') || (page.dig('data', 'range', 1).to_i < 20_000 && page.dig('data', 'range', 1)&.succ)
  place = offset ? { 'tool' => name, 'args' => args.merge('offset' => offset) } : nil
  place = nil if page['error'] || page.dig('data', 'error')
end
seconds = times && begin
  started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  times.to_i.times { |number| Artificer.execute_standard({ 'id' => "t#{number}", 'function' => { 'name' => 'grep', 'arguments' => '{}' } }, []) { { result: "line\n" * 400, exit_status: 0 } } }
  (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) / times.to_i
end
status = defined?(RindBridge) ? RindBridge.status : {}
frames = Artificer.panel.map { |frame| JSON.parse(frame).dig('payload', 'data').slice('name', 'result') }
print JSON.generate(frames: frames.first(calls.length), messages: messages, continued: continued, seconds: seconds,
                    state: status[:state], fallbacks: status[:fallbacks])
RindBridge.stop if defined?(RindBridge)
