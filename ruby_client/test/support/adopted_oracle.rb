# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'open3'
require 'rbconfig'

# A copy of the oracle that has no bridge, the steps of docs/adopting.md that move it, and a project for it to work in.
class AdoptedOracle
  REPOSITORY = File.expand_path('../../..', __dir__)
  ORIGINAL = File.join(REPOSITORY, 'examples', 'adopting')
  DOCUMENT = File.join(REPOSITORY, 'docs', 'adopting.md')
  STEPS = File.read(DOCUMENT, encoding: Encoding::UTF_8).scan(/^```diff\n(.*?)^```$/m).flatten.freeze
  WORKER = "'#{File.join(REPOSITORY, '.venv', 'bin', 'python')}' -m bridge serve"

  attr_reader :folder

  # Copies the oracle and makes its project below +parent+.
  def initialize(parent)
    @parent = parent
    @folder = File.join(parent, 'my oracle')
    FileUtils.cp_r(ORIGINAL, @folder)
    @project = File.join(parent, 'project').tap { |project| Dir.mkdir(project) }
    File.write(File.join(@project, 'a.rb'), "class A\n  def b = 'é'\nend\n#{"# long\n" * 2000}")
    File.binwrite(File.join(@project, 'i.png'), "\x89PNG\r\n\x1a\n".b + Random.bytes(9000))
  end

  # Applies the first +count+ steps as they stand.
  def adopt(count) = STEPS.first(count).each { |step| git_apply(step) }

  # Takes all steps out again, the last one first.
  def leave = STEPS.reverse_each { |step| git_apply(step, '-R') }

  # Runs it in a Ruby of its own with a home of its own; returns what adopting_run.rb prints. Raises for a warning.
  def run(command: WORKER, calls: 0)
    environment = { 'RIND_BRIDGE_COMMAND' => command, 'RIND_BRIDGE_HOME' => Dir.mktmpdir('kept', @parent),
                    'PYTHONPATH' => REPOSITORY }
    program = File.join(__dir__, 'adopting_run.rb')
    said, complaints, status = Open3.capture3(environment, RbConfig.ruby, '-w', '-I', File.join(REPOSITORY, 'ruby_client', 'lib'),
                                              program, @folder, @project, calls.to_s, binmode: true)
    raise complaints if !status.success? || complaints.include?('warning:')

    JSON.parse(said.force_encoding(Encoding::UTF_8))
  end

  private

  def git_apply(difference, *options)
    said, status = Open3.capture2e({ 'GIT_DIR' => File::NULL }, 'git', 'apply', '--unsafe-paths', "--directory=#{@folder}",
                                   *options, '-', stdin_data: difference, chdir: '/')
    raise said unless status.success?
  end
end
