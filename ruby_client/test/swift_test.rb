# frozen_string_literal: true

require 'open3'
require 'test_helper'
require 'support/status_frames'
require 'support/tool_results'
require 'support/seed'

# Ruby drives a real worker, and the frames of what it gave are piped into the panel's own decoder.
class SwiftTest < BridgeTest
  CALLS = 500
  PACKAGE = File.join(REPOSITORY, 'tests', 'swift')
  MORE_STRUCTURES = %w[read_file patch_file file_overview].freeze

  def setup
    super
    return if system('swift --version', out: File::NULL, err: File::NULL)

    warn "\nSWIFT WAS NOT RUN: no toolchain on the PATH, so #{CALLS} live frames were not decoded"
    skip 'no swift on the PATH'
  end

  def test_the_panel_decodes_every_preview
    assert_decoded(%w[read_file]) do |bridge, call|
      bridge.ui_preview(call.result, name: call.tool)
    end
  end

  def test_the_panel_decodes_the_preview_of_every_completion_with_more_structural_tools
    assert_decoded(MORE_STRUCTURES) do |bridge, call|
      bridge.tool_completed(call.result, name: call.tool, args: call.args).preview
    end
  end

  private

  # The block gives a call's preview by the client that it is given.
  def assert_decoded(structural_tools, &give)
    results = ToolResults.new(SEED)
    calls = Array.new(CALLS) { results.call }
    previews = previews(calls, structural_tools, &give)
    shown = decode(calls.zip(previews).flat_map { |call, preview| frames(call, preview) })
    assert_equal 2 * CALLS, shown.length
    calls.zip(previews, shown.each_slice(2)) { |call, preview, answers| assert_shown(call, preview, answers) }
  end

  def previews(calls, structural_tools)
    bridge = client(REAL_WORKER, structural_tools: structural_tools, deadline: 30, preview_deadline: 30)
    given = calls.map { |call| yield(bridge, call) }
    assert_equal 0, bridge.status[:fallbacks], 'the worker answered every call'
    given
  end

  def frames(call, preview)
    [StatusFrames.starting(call.tool, call.args), StatusFrames.completed(call.tool, preview)]
  end

  def decode(lines)
    decoder = File.join(build, 'decode')
    output, status = Open3.capture2(decoder, stdin_data: lines.map { |line| "#{line}\n" }.join)
    answers = output.force_encoding(Encoding::UTF_8).each_line.map { |line| JSON.parse(line) }
    assert_empty answers.filter_map { |answer| answer['fault'] }, "seed #{SEED}"
    assert_predicate status, :success?
    answers
  end

  # Builds what bin/test has built already; alone, this test needs nothing but swift.
  def build
    command = ['swift', 'build', '--package-path', PACKAGE]
    output, status = Open3.capture2e(*command)
    assert_predicate status, :success?, output
    Open3.capture2(*command, '--show-bin-path').first.chomp
  end

  def assert_shown(call, preview, answers)
    starting, completed = answers
    name = call.args[:path] ? File.basename(call.args[:path]) : ''
    about = -> { "seed #{SEED}: #{call.inspect}" }
    assert_equal [name, name], [starting['header'], completed['header']], about
    assert_equal body(call, preview), completed['body'], about
  end

  def body(call, preview)
    return preview if preview.is_a?(String)
    return preview[:content] || preview[:error] || '' if call.tool == 'read_file'

    call.tool == 'patch_file' ? preview[:error] || '' : ''
  end
end
