# frozen_string_literal: true

# Runs an oracle (its folder is the first argument) on real tools in a project (the second), and prints as JSON what the
# panel and the model got, and what the worker was asked for it. The third argument is a number of calls to time.
$stdout.binmode
folder, project, times = ARGV
require File.join(folder, 'artificer')
require File.join(folder, 'tools')

CALLS = [
  ['read_file', { path: 'a.rb' }], ['run_command', { command: 'seq 20000; printf "%060000d\n" 7; seq 3; exit 3' }],
  ['run_command', { command: 'printf "\xff ok"' }], ['file_overview', { path: 'a.rb' }], ['view_image', { path: 'i.png' }],
  ['read_file', { path: '../secret' }]
].freeze
LONG = 'functions.run_command:1'
TOOLS = ProjectTools.new(project)
Artificer.panel = []
Artificer.session_id = 'conversation-1' if Artificer.respond_to?(:session_id=)

def standard(name, args, id, &tool)
  call = { 'id' => id, 'function' => { 'name' => name, 'arguments' => JSON.generate(args) } }
  Artificer.execute_standard(call, [], &tool || TOOLS.method(:call)).last
end

def fallback(name, args, id)
  Artificer.execute_fallback({ id: id, name: name, args: args }, [], &TOOLS.method(:call)).last
end

# Follows what the model is told until nothing is left to read: the continuation, then each page's next place.
def continued(content)
  place = JSON.parse(content).dig('meta', 'continue')
  pages = []
  while place
    name, args = place.values_at('tool', 'args')
    pages << JSON.parse(standard(name, args.transform_keys(&:to_sym), "more-#{pages.length}").first[:content])
    following = next_place(pages.last)
    place = following && { 'tool' => name, 'args' => args.merge(following) }
  end
  pages
end

# A page that the bridge had to cut says in meta where it was cut; else the tool's own words hold.
def next_place(page)
  cut_at = page.dig('meta', 'next_offset')
  return { 'offset' => cut_at, 'column' => 1 } if cut_at

  offset, column = page.fetch('data', {}).values_at('next_offset', 'next_column')
  offset && { 'offset' => offset, 'column' => column }
end

# How often the worker was asked each of its methods.
def asked
  RindBridge.client.send(:ask, 'stats', {})['methods'].transform_values { |method| method['calls'] }
rescue NameError, RindBridge::Unavailable
  {}
end

def seconds_of_a_call(times)
  started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  times.times { |number| standard('grep', {}, "t#{number}") { { result: "line\n" * 400, exit_status: 0 } } }
  (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) / times
end

messages = CALLS.flat_map.with_index do |(name, args), index|
  index.even? ? standard(name, args, "functions.#{name}:#{index}") : fallback(name, args, "functions.#{name}:#{index}")
end
frames = Artificer.panel.map { |frame| JSON.parse(frame).dig('payload', 'data').slice('name', 'result') }
report = { frames: frames, messages: messages, asked: asked }
report[:continued] = continued(messages.find { |message| message[:tool_call_id] == LONG }[:content])
report[:seconds] = seconds_of_a_call(times.to_i) if times.to_i.positive?
report.update(RindBridge.status.slice(:state, :fallbacks)) if defined?(RindBridge)
print JSON.generate(report)
RindBridge.stop if defined?(RindBridge)
