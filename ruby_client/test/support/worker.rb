# frozen_string_literal: true

# A worker in Ruby, for tests of the client: real processes that behave well or misbehave in one way each.
#
#   ruby worker.rb BEHAVIOUR [ARGUMENT]

require 'json'
require_relative '../../lib/rind_bridge/version'

# The well-behaved worker: every method that the client asks for, in its simplest form.
class GoodWorker
  LIMITS = { request_max_bytes: 67_108_864 }.freeze

  def initialize(*arguments)
    @arguments = arguments
    $stdout.binmode
    $stdout.sync = true
  end

  def run
    while (line = $stdin.gets)
      request = JSON.parse(line)
      answer(request)
      break if request['method'] == 'shutdown'
    end
  end

  private

  def answer(request)
    reply(request['id'], result_of(request))
  end

  def reply(id, result)
    write({ jsonrpc: '2.0', id: id, result: result })
  end

  def write(frame)
    $stdout.write(JSON.generate(frame), "\n")
  end

  def result_of(request)
    params = request['params'] || {}
    case request['method']
    when 'initialize' then hello(params)
    when 'ui_preview' then preview(params)
    when 'tool_completed' then projections(params)
    end
  end

  def hello(params)
    { server: 'fake', version: RindBridge::VERSION, protocol: 1, methods: [], limits: LIMITS, home: '/', pid: Process.pid,
      structural_tools: structural_tools, client: params['client'] }
  end

  def structural_tools
    (ENV['RIND_BRIDGE_STRUCTURAL_TOOLS'] || 'read_file').split(',')
  end

  def preview(params)
    text = params['result'].to_s
    limit = params['limit'] || 4000
    text.length <= limit ? text : "#{text[0, [limit - 3, 0].max]}..."
  end

  def projections(params)
    { terminal_content: JSON.generate(params['result']), model_content: JSON.generate(params['result']),
      model_content_format: 'tool_result_v1', model_content_policy: { truncated: false }, attachments: [],
      output: nil, replayed: false }
  end
end

# Each misbehaves from its first call on; the handshake is in order unless the name says otherwise.
module Misbehaving
  # Calls, as opposed to the handshake and the farewell.
  CALLS = %w[ui_preview tool_completed].freeze

  class Base < GoodWorker
    private

    def answer(request)
      CALLS.include?(request['method']) ? misbehave(request) : super
    end
  end

  class ExitsAtStart < GoodWorker
    def run
      warn 'cannot start: no such module'
      exit 3
    end
  end

  class PrintsGarbageFirst < GoodWorker
    def run
      $stdout.write(@arguments.first)
      super
    end
  end

  class HangsInHandshake < GoodWorker
    def run = sleep
  end

  class GreetsLate < GoodWorker
    def run
      sleep(Float(@arguments.first))
      super
    end
  end

  class RefusesHandshake < GoodWorker
    def answer(request)
      write({ jsonrpc: '2.0', id: request['id'], error: { code: -32_602, message: 'Invalid params' } })
    end
  end

  class GreetsOddly < GoodWorker
    def hello(_params) = { capabilities: {}, limits: 'none' }
  end

  class SpeaksAnotherProtocol < GoodWorker
    def hello(params) = super.merge(protocol: 99)
  end

  class IsAnotherVersion < GoodWorker
    def hello(params) = super.merge(version: '0.0.1')
  end

  class GivesNoPolicy < GoodWorker
    def projections(params) = super.merge(model_content_policy: nil)
  end

  class AnswersHalfALine < Base
    def misbehave(request)
      $stdout.write(%({"jsonrpc":"2.0","id":#{request['id']},"result":"ha))
      sleep
    end
  end

  class DribblesForever < Base
    def misbehave(_request)
      loop do
        $stdout.write('x')
        sleep(0.01)
      end
    end
  end

  class AnswersLate < Base
    def misbehave(request)
      sleep(Float(@arguments.first)) unless @late
      @late = true
      reply(request['id'], result_of(request))
    end
  end

  class AnswersWrongId < Base
    def misbehave(request)
      reply(request['id'] - 1, 'the answer of another call')
    end
  end

  class AnswersTwice < Base
    def misbehave(request)
      2.times { reply(request['id'], result_of(request)) }
    end
  end

  class NotifiesInBetween < Base
    def misbehave(request)
      write({ jsonrpc: '2.0', method: 'progress', params: { done: 1 } })
      reply(request['id'], result_of(request))
      write({ jsonrpc: '2.0', method: 'progress', params: { done: 2 } })
    end
  end

  class AnswersNoJson < Base
    def misbehave(_request)
      $stdout.write("Traceback (most recent call last):\n")
    end
  end

  class AnswersTooDeep < Base
    def misbehave(request)
      $stdout.write(%({"jsonrpc":"2.0","result":#{'[' * 200}#{']' * 200},"id":#{request['id']}}\n))
    end
  end

  class StallsOnRequest < Base
    def misbehave(request)
      sleep if request.dig('params', 'result') == 'stall'
      reply(request['id'], result_of(request))
    end
  end

  class AnswersNoText < Base
    def misbehave(request)
      reply(request['id'], 42)
    end
  end

  class AnswersAnError < Base
    def misbehave(request)
      write({ jsonrpc: '2.0', id: request['id'], error: { code: -32_603, message: 'Internal error' } })
    end
  end

  class ClosesStderr < GoodWorker
    def run
      $stderr.reopen(File::NULL)
      super
    end
  end

  class FloodsStderr < Base
    def misbehave(request)
      $stderr.write('e' * 1_048_576)
      reply(request['id'], result_of(request))
    end
  end

  class FloodsStderrWhenIdle < Base
    def misbehave(request)
      reply(request['id'], result_of(request))
      $stderr.write('e' * 1_048_576)
    end
  end

  class ClosesStdout < Base
    def misbehave(_request)
      $stdout.reopen(File::NULL)
      sleep
    end
  end

  # Dies when it has read a call, as often as the file named by its argument has a line.
  class DiesBeforeAnswer < Base
    def misbehave(request)
      lives = File.exist?(@arguments.first) ? File.read(@arguments.first).to_i : 0
      return reply(request['id'], result_of(request)) if lives.zero?

      File.write(@arguments.first, (lives - 1).to_s)
      Process.kill(:KILL, Process.pid)
      sleep
    end
  end

  class DiesAfterAnswer < Base
    def misbehave(request)
      reply(request['id'], result_of(request))
      Process.kill(:KILL, Process.pid)
      sleep
    end
  end

  # Answers before it has read the whole request, and ends.
  class RefusesAndDies < GoodWorker
    def run
      answer(JSON.parse($stdin.gets))
      $stdin.readpartial(10)
      write({ jsonrpc: '2.0', id: nil, error: { code: -32_001, message: 'Request too large' } })
    end
  end

  # Writes a reply of ten megabytes before it reads on.
  class AnswersHuge < Base
    def misbehave(request)
      reply(request['id'], 'y' * 10_000_000)
    end
  end

  # Writes a long reply before it has read the long request.
  class CrossesHuge < GoodWorker
    def run
      answer(JSON.parse($stdin.gets))
      head = $stdin.readpartial(1000)
      id = head[/"id":(\d+)/, 1]
      $stdout.write(%({"jsonrpc":"2.0","id":#{id},"result":"#{'z' * 10_000_000}"}\n))
      nil while $stdin.gets
    end
  end

  class IgnoresTheEnd < GoodWorker
    def run
      trap(:TERM, 'IGNORE') if @arguments.include?('term')
      super
      sleep
    end
  end

  # Leaves a child behind that keeps all its pipes open.
  class LeavesAChild < Base
    def misbehave(request)
      spawn('sleep', '60')
      reply(request['id'], result_of(request))
    end
  end
end

# Well-behaved ones that tell what they were asked.
module Telling
  class WritesDownMethods < GoodWorker
    def answer(request)
      File.write(@arguments.first, "#{request['method']}\n", mode: 'a')
      super
    end
  end

  class WritesDownLengths < GoodWorker
    def answer(request)
      File.write(@arguments.first, "#{JSON.generate(request).bytesize}\n", mode: 'a')
      super
    end
  end

  class GivesParamsBack < GoodWorker
    def projections(params)
      super.merge(model_content: JSON.generate(params))
    end
  end

  class KnowsPatchFile < GoodWorker
    def structural_tools = ['patch_file']
  end
end

behaviour, *arguments = ARGV
kinds = [Misbehaving, Telling].find { |kind| kind.const_defined?(behaviour, false) } if behaviour != 'good'
(kinds ? kinds.const_get(behaviour) : GoodWorker).new(*arguments).run
