# frozen_string_literal: true

require 'test_helper'

class PagesTest < BridgeTest
  def test_pages_are_followed_by_line_and_column_until_none_is_left
    asked = []
    last = RindBridge::OutputPage.new({ 'content' => 'c', 'next_offset' => nil })
    middle = RindBridge::OutputPage.new({ 'content' => 'b', 'next_offset' => 7, 'next_column' => 1 }) do |**place|
      asked << place
      last
    end
    first = RindBridge::OutputPage.new({ 'content' => 'a', 'next_offset' => 2, 'next_column' => 9 }) do |**place|
      asked << place
      middle
    end

    assert_equal %w[a b c], first.each_page.map(&:content)
    assert_equal [{ offset: 2, column: 9 }, { offset: 7, column: 1 }], asked
    assert_predicate last, :last?
    assert_nil last.next_page
  end

  def test_a_page_is_read_only_when_it_is_asked_for
    first = RindBridge::OutputPage.new({ 'content' => 'a', 'next_offset' => 2 }) { raise 'too early' }

    assert_equal 'a', first.each_page.first.content
  end

  def test_a_page_is_shown_on_a_terminal_without_its_contents
    text = 'x' * 20_000

    assert_equal '#<RindBridge::OutputPage the last>', RindBridge::OutputPage.new({ 'content' => text }).inspect
    assert_match(/\A#<RindBridge::ReplayPage next: .*after.*3.*>\z/,
                 RindBridge::ReplayPage.new({ 'items' => [text], 'next_after' => 3 }).inspect)
    assert_operator RindBridge::OutputPage.new({ 'content' => text, 'next_offset' => 2 }).inspect.length, :<, 80
  end

  def test_a_stored_output_is_read_page_by_page_until_its_end
    client = real_client
    lines = Array.new(20_000) { |number| "line #{number}\n" }.join
    done = client.tool_completed(lines, name: 'run_command', session_id: 's1', call_id: 'c1')

    assert_equal lines.bytesize, done.output['bytes']
    assert_equal lines, client.each_page(session_id: 's1', call_id: 'c1').map(&:content).join
    first = client.read_output(session_id: 's1', call_id: 'c1')
    assert_equal lines, first.each_page.map { |page| page['content'] }.join
  end

  def test_what_the_documentation_shows_of_reading_runs
    @clients << RindBridge.start(command: REAL_WORKER, home: @home, deadline: 30)
    lines = Array.new(10_000) { |number| "line #{number}\n" }.join
    RindBridge.tool_completed(lines, name: 'run_command', session_id: 's1', call_id: 'c1')
    document = File.read(File.join(REPOSITORY, 'docs', 'ruby.md'), encoding: Encoding::UTF_8)
    snippet = document[/^## Reading what was kept\n+```ruby\n(.+?)^```$/m, 1]

    assert_output(lines) { eval(snippet) } # rubocop:disable Security/Eval -- the document's Ruby is ours
  end

  def test_a_page_says_where_the_next_one_begins
    client = real_client
    client.tool_completed("a\nb\nc\n" * 10_000, name: 'run_command', session_id: 's', call_id: 'c')
    page = client.read_output(session_id: 's', call_id: 'c', limit: 2)
    saved = client.replay('s')

    assert_equal ["a\nb\n", 3, 1], [page.content, page.next_offset, page.next_column]
    assert_nil saved.next_after
  end

  def test_a_session_is_replayed_in_order_over_all_its_pages
    client = real_client
    saved = Array.new(5) do |number|
      client.tool_completed("text #{number}", name: 'a', session_id: 's', call_id: "c#{number}")
    end
    replayed = client.replay('s', limit: 2).each_item.to_a

    assert_equal(saved.map(&:model_content), replayed.map { |item| item['model_content'] })
    assert_equal %w[c0 c1 c2 c3 c4], (replayed.map { |item| item['call_id'] })
  end

  def test_the_same_ids_give_what_was_saved
    client = real_client
    first = client.tool_completed('text', name: 'a', session_id: 's', call_id: 'c')
    again = client.tool_completed('another text', name: 'a', session_id: 's', call_id: 'c')

    refute_predicate first, :replayed?
    assert_predicate again, :replayed?
    assert_equal first.model_content, again.model_content
  end

  def test_one_saved_projection_is_looked_up_before_its_tool_is_run_again
    client = real_client
    done = client.tool_completed('text', name: 'a', session_id: 's', call_id: 'functions.a:0')

    assert_equal done.model_content, client.lookup(session_id: 's', call_id: 'functions.a:0')['model_content']
    assert_nil client.lookup(session_id: 's', call_id: 'never made')
  end

  def test_a_second_output_of_a_call_is_read_by_its_part
    client = real_client
    result = { stdout: "out\n" * 9000, stderr: "err\n" * 9000 }
    client.tool_completed(result, name: 'bash', session_id: 's', call_id: 'c')

    %w[stdout stderr].zip(['', 'stderr']) do |stream, part|
      pages = client.each_page(session_id: 's', call_id: 'c', part: part)
      assert_equal result[stream.to_sym], pages.map(&:content).join
    end
  end

  def test_a_forgotten_session_is_gone
    client = real_client
    client.tool_completed("text\n" * 10_000, name: 'a', session_id: 's', call_id: 'c')
    removed = client.forget(session_id: 's')

    assert_operator removed['bytes'], :>, 50_000
    assert_nil client.lookup(session_id: 's', call_id: 'c')
    assert_raises(RindBridge::OutputMissing) { client.read_output(session_id: 's', call_id: 'c') }
  end

  def test_an_output_that_is_not_there_says_why
    error = assert_raises(RindBridge::OutputMissing) { real_client.read_output(session_id: 's', call_id: 'none') }

    assert_equal 'never_stored', error.reason
  end

  def test_ids_that_are_paths_are_refused
    error = assert_raises(RindBridge::InvalidParams) { real_client.read_output(session_id: '../x', call_id: 'c') }

    assert_includes error.data['fields'], 'session_id'
  end

  def test_without_a_worker_there_is_nothing_to_read
    client = client(NO_WORKER)

    assert_raises(RindBridge::Unavailable) { client.read_output(session_id: 's', call_id: 'c') }
    assert_raises(RindBridge::Unavailable) { client.replay('s') }
  end

  private

  def real_client
    client(REAL_WORKER, deadline: 30)
  end
end
