# frozen_string_literal: true

# Round trips from Ruby, each in turn with its yardstick: an echo of the same frame through a Python process.
# Prints one JSON line for each figure: its name and pairs of seconds for one call (ours, theirs).
#
#   ruby -I ruby_client/lib tests/bench/round_trip.rb REPEATS PYTHON

require 'json'
require 'rind_bridge'

REPEATS = Integer(ARGV.fetch(0))
PYTHON = ARGV.fetch(1)
BLOCK_SECONDS = 0.02

def seconds
  started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
end

def per_call(loops, call)
  seconds { loops.times { call.call } } / loops
end

def in_turn(ours, theirs)
  loops = [ours, theirs].map do |call|
    3.times { call.call }
    [(BLOCK_SECONDS / per_call(3, call)).round, 1].max
  end
  Array.new(REPEATS) { [per_call(loops[0], ours), per_call(loops[1], theirs)] }
end

# Generates, writes, reads and parses one frame through a Python process that gives the line back.
def echo(mode, params)
  pipe = IO.popen([PYTHON, File.join(__dir__, 'echo.py'), mode], 'r+')
  pipe.sync = true
  lambda do
    pipe.write(JSON.generate(jsonrpc: '2.0', id: 1, method: 'ui_preview', params: params), "\n")
    JSON.parse(pipe.gets)
  end
end

def report(name, pairs)
  puts JSON.generate(name: name, pairs: pairs)
end

# Returns so many characters as a build prints them: no two lines are the same.
def log_of(size)
  lines = (1..).lazy.map { |number| format("[%06d] compiling module_%d.rb of the project, no warning\n", number, number % 97) }
  lines.take(size / 50 + 1).to_a.join[0, size]
end

raise "no worker: #{RindBridge.status}" unless RindBridge.start.connect

{ '100 B' => 100, '10 KB' => 10_000, '1 MB' => 1_000_000 }.each do |label, size|
  result = { content: log_of(size) }
  report("ui_preview, #{label}", in_turn(-> { RindBridge.ui_preview(result, name: 'grep') },
                                         echo('plain', { result: result, name: 'grep' })))
end
small = (1..32).to_h { |number| ["key#{number}", 'v' * 20] }
report('tool_completed, 1 KB object', in_turn(-> { RindBridge.tool_completed(small, name: 'run') },
                                              echo('plain', { result: small, name: 'run' })))
text = log_of(1_000_000)
report('tool_completed, 1 MB', in_turn(-> { RindBridge.tool_completed(text, name: 'run') },
                                       echo('json', { result: text, name: 'run' })))
raise "the worker did not answer: #{RindBridge.status}" unless RindBridge.status[:fallbacks].zero?

RindBridge.stop
