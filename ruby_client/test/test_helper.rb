# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'logger'
require 'minitest/autorun'
require 'rbconfig'
require 'rind_bridge'
require 'stringio'
require 'timeout'
require 'tmpdir'

# What the tests share: where the workers are, and what must be left when a test is over.
module Support
  REPOSITORY = File.expand_path('../..', __dir__)
  CONTRACT = File.join(REPOSITORY, 'tests', 'contract')
  PYTHON = File.join(REPOSITORY, '.venv', 'bin', 'python')
  # The worker that this repository builds.
  REAL_WORKER = (ENV['RIND_BRIDGE_COMMAND'] || [PYTHON, '-m', 'bridge', 'serve']).freeze
  NO_WORKER = [File.join(REPOSITORY, 'no', 'such', 'worker')].freeze
  RUBY = [RbConfig.ruby, '--disable-gems'].freeze
  LIB = File.join(REPOSITORY, 'ruby_client', 'lib')

  module_function

  # A worker in Ruby that behaves as its name in support/worker.rb says.
  def worker(behaviour = 'good', *arguments)
    [*RUBY, File.join(__dir__, 'support', 'worker.rb'), behaviour, *arguments.map(&:to_s)]
  end

  def contract(name)
    JSON.parse(File.read(File.join(CONTRACT, name), encoding: Encoding::UTF_8)).fetch('cases')
  end

  # Runs a program in a Ruby of its own with the client loaded; gives what it printed.
  def run_ruby(program, *arguments, env: {}, options: [])
    command = [RbConfig.ruby, '-w', *options, '-I', LIB, '-I', __dir__, '-r', 'rind_bridge', '-e', program, *arguments]
    IO.popen(env, command, err: %i[child out], &:read)
  end

  # Waits until the block gives something true; gives that, or nil when +seconds+ are over.
  def eventually(seconds = 10)
    deadline = RindBridge::Clock.now + seconds
    until (found = yield)
      return if RindBridge::Clock.now > deadline

      sleep(0.002)
    end
    found
  end

  # Says whether a process runs; one that only waits to be reaped does not.
  def running?(pid)
    Process.kill(0, pid)
    !File.read("/proc/#{pid}/stat").split(') ').last.start_with?('Z')
  rescue Errno::ESRCH, Errno::ENOENT
    false
  end
end

# A test that ends its clients, and fails when one left a child process, a thread or a descriptor behind.
class BridgeTest < Minitest::Test
  include Support

  def setup
    @clients = []
    @home = Dir.mktmpdir('rind-bridge-test')
    Timeout.timeout(60) { nil } # since Ruby 3.2 Timeout keeps one thread from its first use on
    GC.start
    @before = resources
  end

  def teardown
    @clients.each(&:stop)
    GC.start
    assert_equal(@before, resources) if passed?
    assert_raises(Errno::ECHILD, 'a child process is left') { Process.wait(-1, Process::WNOHANG) }
  ensure
    FileUtils.rm_rf(@home)
  end

  # A client of its own for this test, with short deadlines; the defaults are for people.
  def client(command = Support.worker, **settings)
    client = RindBridge::Client.new(command: command, home: @home, logger: ->(_change) {}, **settings)
    @clients << client
    client
  end

  def resources
    { threads: Thread.list.size, descriptors: Dir.children('/proc/self/fd').size }
  end
end
