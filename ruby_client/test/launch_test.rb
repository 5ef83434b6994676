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

  def test_a_program_is_looked_up_on_the_path_first
    in_home do |home|
      on_path = executable(File.join(home, 'bin', 'rind-bridge'))
      executable(File.join(home, '.local', 'bin', 'rind-bridge'))
      ENV['PATH'] = ":/no/such/folder:#{File.dirname(on_path)}"

      assert_equal on_path, Launch.new.program
    end
  end

  def test_a_program_that_is_not_on_the_path_is_where_pipx_and_uv_put_it
    in_home do |home|
      installed = executable(File.join(home, '.local', 'bin', 'rind-bridge'))
      [nil, '', '/no/such/folder'].each do |path|
        ENV['PATH'] = path

        assert_equal installed, Launch.new.program
      end
    end
  end

  def test_a_program_is_never_taken_from_the_working_directory
    in_home do |home|
      executable(File.join(home, 'planted-program'))
      ENV['PATH'] = nil
      error = Dir.chdir(home) do
        assert_raises(RindBridge::Unavailable) { Launch.new(command: 'planted-program').program }
      end

      assert_match(/cannot be started: No such file .*absolute path as RIND_BRIDGE_COMMAND/, error.message)
    end
  end

  def test_the_home_directory_and_spaces_in_a_path
    in_home do |home|
      ENV['RIND_BRIDGE_COMMAND'] = '~/my\ tools/bridge serve'
      launch = Launch.new

      assert_equal ["#{home}/my tools/bridge", 'serve'], [launch.program, launch.argv.last]
      assert_equal '/a b/c', Launch.new(command: ['/a b/c', 'serve']).program
    end
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

  private

  def in_home
    Dir.mktmpdir('home') do |home|
      ENV['HOME'] = home
      yield home
    end
  end

  def executable(path)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, "#!/bin/sh\n", perm: 0o755)
    path
  end
end
