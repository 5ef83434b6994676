# frozen_string_literal: true

require 'open3'
require 'test_helper'

# docs/adopting.md, followed literally on a copy of the oracle that has no bridge.
class AdoptingTest < BridgeTest
  ORACLE = File.join(REPOSITORY, 'examples', 'adopting')
  DOCUMENT = File.join(REPOSITORY, 'docs', 'adopting.md')
  STEPS = File.read(DOCUMENT, encoding: Encoding::UTF_8).scan(/^```diff\n(.*?)^```$/m).flatten
  IMAGE = 'image_url'

  def setup
    super
    @oracle = File.join(@home, 'my oracle')
    FileUtils.cp_r(ORACLE, @oracle)
    @project = File.join(@home, 'project').tap { |folder| Dir.mkdir(folder) }
    File.write(File.join(@project, 'a.rb'), "class A\n  def b = 'é'\nend\n#{"# long\n" * 2000}")
    File.binwrite(File.join(@project, 'i.png'), "\x89PNG\r\n\x1a\n".b + Random.bytes(9000))
  end

  def test_the_panel_shows_after_the_first_step_what_it_showed_before
    before = run_oracle
    apply(0)

    assert_equal before['frames'], run_oracle['frames']
    assert_equal before['messages'].length, run_oracle['messages'].length
    assert_equal ['ready', 0], run_oracle.values_at('state', 'fallbacks')
  end

  def test_the_model_gets_bounded_contents_and_every_image_after_the_second_step
    before = run_oracle
    apply(0, 1)
    after = run_oracle

    assert_equal before['frames'], after['frames']
    assert_equal images(before), images(after)
    assert_operator contents(before).map(&:bytesize).max, :>, 100_000
    contents(after).each { |content| assert_operator JSON.parse(content) && content.bytesize, :<=, 25_600 }
    assert_equal(before['messages'].map { |message| message['tool_call_id'] },
                 after['messages'].map { |message| message['tool_call_id'] })
    assert_equal [{ 'error' => 'Denied path' }], after['continued'].map { |page| { 'error' => page['error'][0, 11] } }
  end

  def test_the_model_reads_on_to_the_last_line_after_the_third_step
    apply(0, 1, 2)
    after = run_oracle
    content = contents(after).find { |text| text.include?('exit_status') && text.include?('20000') }
    first = JSON.parse(content).dig('meta', 'shown', 'lines').first.last
    read = after['continued'].map { |page| page.dig('data', 'content') }.join

    assert_equal ((first + 1)..20_000).map { |number| "#{number}\n" }.join, read
  end

  def test_structures_reach_the_panel_after_the_fourth_step
    overview = ->(run) { run['frames'].find { |frame| frame['name'] == 'file_overview' }['result'] }
    before = overview.call(run_oracle)
    apply(0, 1, 2, 3)

    assert_kind_of String, before
    assert_equal JSON.parse(before), overview.call(run_oracle)
  end

  def test_without_a_worker_every_step_goes_on
    apply(0, 1, 2, 3)
    before = images(run_oracle)
    alone = run_oracle(command: NO_WORKER.first)

    assert_equal [6, before], [contents(alone).length, images(alone)]
    contents(alone).each { |content| assert_operator JSON.parse(content) && content.bytesize, :<=, 25_600 }
  end

  def test_the_oracle_is_the_one_it_was_when_the_bridge_is_taken_out
    apply(*STEPS.each_index)
    STEPS.each_index.reverse_each { |step| git_apply(STEPS[step], '-R') }

    assert_equal(%w[artificer.rb tools.rb].map { |name| File.read(File.join(ORACLE, name)) },
                 %w[artificer.rb tools.rb].map { |name| File.read(File.join(@oracle, name)) })
  end

  private

  def apply(*steps) = steps.each { |step| git_apply(STEPS.fetch(step)) }

  def git_apply(difference, *options)
    said, status = Open3.capture2e({ 'GIT_DIR' => File::NULL }, 'git', 'apply', '--unsafe-paths', "--directory=#{@oracle}",
                                   *options, '-', stdin_data: difference, chdir: '/')
    assert_predicate status, :success?, said
  end

  def run_oracle(command: "'#{PYTHON}' -m bridge serve")
    environment = { 'RIND_BRIDGE_COMMAND' => command, 'RIND_BRIDGE_HOME' => Dir.mktmpdir('kept', @home), 'PYTHONPATH' => REPOSITORY }
    program = File.join(__dir__, 'support', 'adopting_run.rb')
    said, complaints, = Open3.capture3(environment, RbConfig.ruby, '-w', '-I', LIB, program, @oracle, @project)
    refute_match(/warning:/, complaints)
    JSON.parse(said.force_encoding(Encoding::UTF_8))
  rescue JSON::ParserError
    flunk "#{said}#{complaints}"
  end

  def contents(run) = run['messages'].filter_map { |message| message['content'] if message['role'] == 'tool' }

  def images(run) = run['messages'].select { |message| message['role'] == 'user' }.map { |message| message['content'] }
end
