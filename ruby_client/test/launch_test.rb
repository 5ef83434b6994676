# frozen_string_literal: true

require 'test_helper'

class LaunchTest < Minitest::Test
  Launch = RindBridge::Launch

  def setup
    @before = ENV.to_h
    ENV.delete('RIND_BRIDGE_COMMAND')
  end

  def teardown
    ENV.replace(@before)
  end

  def test_the_worker_is_found_on_the_path_when_nobody_says_otherwise
    assert_equal %w[rind-bridge serve], Launch.new.argv
  end

  def test_the_variable_is_split_like_a_shells_words
    ENV['RIND_BRIDGE_COMMAND'] = %q(python -m 'a b' "c $d" e\ f)

    assert_equal ['python', '-m', 'a b', 'c $d', 'e f'], Launch.new.argv
  end

  def test_the_callers_command_comes_first
    ENV['RIND_BRIDGE_COMMAND'] = 'other'

    assert_equal %w[mine serve], Launch.new(command: 'mine serve').argv
    assert_equal ['mine', 'a b'], Launch.new(command: ['mine', 'a b']).argv
  end

  def test_the_environment_is_a_short_list
    ENV.update('API_TOKEN' => 'secret', 'LC_TIME' => 'C', 'RIND_BRIDGE_READ_TOOL' => 'cat', 'RUBYOPT' => '-w')
    names = Launch.new.environment.keys

    assert_empty(%w[PATH LC_TIME RIND_BRIDGE_READ_TOOL] - names)
    assert_empty(names & %w[API_TOKEN RUBYOPT])
  end

  def test_settings_and_the_callers_variables_go_to_the_worker
    launch = Launch.new(home: '/srv/bridge', structural_tools: [:read_file, 'patch_file'], env: { TZ: nil, NAMED: 1 })

    assert_equal ['/srv/bridge', 'read_file,patch_file', '1'],
                 launch.environment.values_at('RIND_BRIDGE_HOME', 'RIND_BRIDGE_STRUCTURAL_TOOLS', 'NAMED')
    assert_equal %w[read_file patch_file], launch.structural_tools
    refute_includes launch.environment, 'TZ'
  end

  def test_one_structural_tool_needs_no_array
    assert_equal ['patch_file'], Launch.new(structural_tools: 'patch_file').structural_tools
    assert_equal ['patch_file'], Launch.new(structural_tools: :patch_file).structural_tools
    assert_empty Launch.new(structural_tools: []).structural_tools
  end

  def test_a_structural_name_with_a_comma_is_refused_instead_of_being_two
    ['read_file,patch_file', %w[read_file a,b]].each do |names|
      error = assert_raises(RindBridge::InvalidSetting) { Launch.new(structural_tools: names) }

      assert_match(/comma.*Array of names/, error.message)
    end
  end

  def test_structural_tools_of_the_environment_are_known_before_any_worker
    ENV['RIND_BRIDGE_STRUCTURAL_TOOLS'] = 'read_file, file_overview,'

    assert_equal %w[read_file file_overview], Launch.new.structural_tools
    ENV.delete('RIND_BRIDGE_STRUCTURAL_TOOLS')

    assert_nil Launch.new.structural_tools
  end
end
