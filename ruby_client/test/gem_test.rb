# frozen_string_literal: true

require 'open3'
require 'rubygems/package'
require 'test_helper'

# The gem as it is shipped: its package, and the types of its public API.
class GemTest < Minitest::Test
  FOLDER = File.join(Support::REPOSITORY, 'ruby_client')
  SIGNATURES = File.join(FOLDER, 'sig')

  def test_the_gem_is_built_without_a_warning_and_holds_what_a_user_needs
    Dir.mktmpdir do |folder|
      # A release puts these two beside the gem; they stand once in this repository.
      copy = ['ruby_client/.', 'LICENSE', 'README.md'].map { |path| File.join(Support::REPOSITORY, path) }
      FileUtils.cp_r(copy, folder)
      said, status = Open3.capture2e(RbConfig.ruby, '-S', 'gem', 'build', 'rind_bridge.gemspec', '-o', 'made.gem', chdir: folder)

      assert_predicate status, :success?, said
      # The project has no address of its own yet.
      assert_empty said.lines.grep(/warning/i).grep_v(/no homepage|specification-reference/)
      files = Gem::Package.new(File.join(folder, 'made.gem')).spec.files
      assert_empty(%w[LICENSE README.md sig/rind_bridge.rbs lib/rind_bridge.rb lib/rind_bridge/client.rb] - files)
    end
  end

  def test_gem_and_worker_have_one_version
    said, = Open3.capture2(Support::PYTHON, '-c', 'import bridge; print(bridge.__version__)', chdir: Support::REPOSITORY)

    assert_equal RindBridge::VERSION, said.chomp
  end

  def test_the_signatures_are_valid
    said, status = rbs('validate', '--silent')

    assert_predicate status, :success?, said
  end

  def test_every_public_method_has_its_signature_and_every_signature_its_method
    [RindBridge::Client, RindBridge::Page, RindBridge::OutputPage, RindBridge::ReplayPage, RindBridge::RemoteError,
     RindBridge::OutputMissing].each do |type|
      assert_equal type.public_instance_methods(false).sort, signed('--instance', type), type
    end
    assert_empty signed('--instance', RindBridge::Completion) - RindBridge::Completion.public_instance_methods
    assert_equal RindBridge.singleton_methods(false).sort, signed('--singleton', RindBridge)
  end

  private

  # In a process of its own, and without -w: the warnings of rbs are not ours.
  def rbs(*arguments)
    program = Gem.bin_path('rbs', 'rbs')
    Open3.capture2e({ 'RUBYOPT' => nil }, RbConfig.ruby, program, '-I', SIGNATURES, *arguments)
  rescue Gem::Exception, LoadError
    warn "\nRBS WAS NOT RUN: no rbs gem here (Debian: ruby-rbs), so the signatures are unproven"
    skip 'no rbs gem'
  end

  def signed(kind, type)
    said, = rbs('methods', '--no-inherit', kind, "::#{type.name}")
    said.scan(/^(\S+) \(public\)$/).flatten.map(&:to_sym).sort - [:initialize]
  end
end
