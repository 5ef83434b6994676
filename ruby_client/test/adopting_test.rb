# frozen_string_literal: true

require 'test_helper'
require 'support/adopted_oracle'

# docs/adopting.md, followed literally on a copy of the oracle that has no bridge.
class AdoptingTest < BridgeTest
  def setup
    super
    @oracle = AdoptedOracle.new(@home)
  end

  def test_the_panel_shows_after_the_first_step_what_it_showed_before
    before = @oracle.run
    @oracle.adopt(1)
    after = @oracle.run

    assert_equal before['frames'], after['frames']
    assert_equal call_ids(before), call_ids(after)
    assert_equal ['ready', 0], after.values_at('state', 'fallbacks')
  end

  def test_the_model_gets_bounded_contents_and_every_image_after_the_second_step
    before = @oracle.run
    @oracle.adopt(2)
    after = @oracle.run

    assert_equal before['frames'], after['frames']
    assert_equal images(before), images(after)
    assert_operator contents(before).map(&:bytesize).max, :>, 100_000
    contents(after).each { |content| assert_operator JSON.parse(content) && content.bytesize, :<=, 25_600 }
    assert_equal call_ids(before), call_ids(after)
    assert_equal [{ 'error' => 'Denied path' }], after['continued'].map { |page| { 'error' => page['error'][0, 11] } }
  end

  def test_both_routes_cost_one_request_for_each_tool_after_the_second_step
    @oracle.adopt(2)
    run = @oracle.run

    assert_equal run['frames'].length, run['asked']['tool_completed']
    refute_includes run['asked'], 'ui_preview'
  end

  def test_the_model_reads_on_to_the_last_line_after_the_third_step
    @oracle.adopt(3)
    after = @oracle.run
    content = contents(after).find { |text| text.include?('exit_status') && text.include?('20000') }
    first = JSON.parse(content).dig('meta', 'shown', 'lines').first.last
    read = after['continued'].map { |page| page.dig('data', 'content') }.join

    rest = ((first + 1)..20_000).map { |number| "#{number}\n" }.join
    assert_equal "#{rest}#{'7'.rjust(60_000, '0')}\n1\n2\n3\n", read
  end

  def test_structures_reach_the_panel_after_the_fourth_step
    overview = ->(run) { run['frames'].find { |frame| frame['name'] == 'file_overview' }['result'] }
    before = overview.call(@oracle.run)
    @oracle.adopt(4)

    assert_kind_of String, before
    assert_equal JSON.parse(before), overview.call(@oracle.run)
  end

  def test_without_a_worker_every_step_goes_on
    @oracle.adopt(4)
    before = images(@oracle.run)
    alone = @oracle.run(command: NO_WORKER.first)

    assert_equal [6, before], [contents(alone).length, images(alone)]
    contents(alone).each { |content| assert_operator JSON.parse(content) && content.bytesize, :<=, 25_600 }
  end

  def test_the_oracle_is_the_one_it_was_when_the_bridge_is_taken_out
    @oracle.adopt(4)
    refute_equal files(AdoptedOracle::ORIGINAL), files(@oracle.folder)
    @oracle.leave

    assert_equal files(AdoptedOracle::ORIGINAL), files(@oracle.folder)
  end

  private

  def files(folder) = %w[artificer.rb tools.rb].map { |name| File.binread(File.join(folder, name)) }

  def call_ids(run) = run['messages'].map { |message| message['tool_call_id'] }

  def contents(run) = run['messages'].filter_map { |message| message['content'] if message['role'] == 'tool' }

  def images(run) = run['messages'].select { |message| message['role'] == 'user' }.map { |message| message['content'] }
end
