# frozen_string_literal: true

require 'test_helper'
require_relative 'support/status_frames'
require_relative 'support/frame_cases'

# The fixtures that Python, Ruby and Swift share: each must be what a real run of the client and a worker gives.
# BRIDGE_WRITE_FIXTURES=1 rewrites them; read the difference before you commit it.
class FramesTest < Minitest::Test
  FOLDER = File.expand_path('../../tests/contract/frames', __dir__)
  WRITE = ENV['BRIDGE_WRITE_FIXTURES'] == '1'

  def setup
    @clients = {}
  end

  def teardown
    @clients.each_value(&:stop)
  end

  def test_every_fixture_is_what_the_client_and_a_worker_give
    FRAME_CASES.each do |id, given|
      made = fixture(given)
      File.write(path(id), "#{JSON.pretty_generate(made)}\n") if WRITE
      assert_equal read(path(id)), decoded(made), "#{id}: bin/test --write-fixtures rewrites the fixtures"
    end
    assert_equal [0], @clients.values.map { |client| client.status[:fallbacks] }.uniq, 'no worker answered'
  end

  def test_every_fixture_has_its_case
    ids = Dir.children(FOLDER).map { |name| File.basename(name, '.json').to_sym }
    assert_equal FRAME_CASES.keys.sort, ids.sort
  end

  private

  def fixture(given)
    preview = client(given.structural_tools).ui_preview(given.result, name: given.tool)
    call = { name: given.tool, args: given.args, result: given.result, structural_tools: given.structural_tools }
    frames = [StatusFrames.starting(given.tool, given.args), StatusFrames.completed(given.tool, preview)]
    { call: call, frames: frames, shown: given.shown }
  end

  def client(structural_tools)
    @clients[structural_tools] ||= RindBridge::Client.new(command: Support::REAL_WORKER, structural_tools: structural_tools).tap do |client|
      assert client.connect, 'no worker: run bin/setup'
    end
  end

  # Versions of Ruby's json lay floats out differently, so what is compared is what the texts say.
  def decoded(fixture)
    fixture = JSON.parse(JSON.generate(fixture))
    fixture.merge('frames' => fixture['frames'].map { |line| JSON.parse(line) })
  end

  def read(path) = decoded(JSON.parse(File.read(path, encoding: 'UTF-8')))

  def path(id) = File.join(FOLDER, "#{id}.json")
end
