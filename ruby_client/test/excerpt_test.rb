# frozen_string_literal: true

require 'test_helper'
require 'support/ruby_objects'
require 'support/seed'

class ExcerptTest < Minitest::Test
  Excerpt = RindBridge::Excerpt
  SMALLEST = { 'model_max_bytes' => 2048, 'model_max_lines' => 20 }.freeze

  def test_what_fits_is_the_json_that_this_ruby_writes
    assert_equal ['"a\\nb"', '{"b":1,"a":[1.0,null]}', 'null', '1'],
                 ["a\nb", { b: 1, a: [1.0, nil] }, nil, 1].map { |result| content(result) }
  end

  def test_bytes_without_an_encoding_are_shown_as_their_text_without_a_warning_of_json
    assert_output('', '') { assert_equal '{"é":[1,"é"]}', content({ 'é'.b => [1, 'é'.b] }) }
  end

  def test_bytes_are_those_of_the_json_and_count_at_the_limit
    assert_equal '"' + ('"' * 4).gsub('"', '\\"') + '"', content('"' * 4, 'model_max_bytes' => 10)
    excerpt = Excerpt.new('x' * 25_598, {})

    assert_equal [25_600, false], [excerpt.content.bytesize, excerpt.truncated]
    assert Excerpt.new('x' * 25_599, {}).truncated
  end

  def test_a_text_keeps_its_beginning_and_its_end
    text = (1..9000).map { |number| "line #{number}\n" }.join
    shown = JSON.parse(content(text))
    head, marker, tail = shown.partition(/^\[rind_bridge: .*\]$/)

    assert text.start_with?(head.chomp)
    assert text.end_with?(tail.delete_prefix("\n"))
    gone = text.bytesize - head.chomp.bytesize - tail.bytesize + 1
    assert_includes marker, "#{gone} of #{text.bytesize} bytes are left out"
    assert_operator shown.count("\n"), :<, 2000
  end

  def test_many_short_lines_are_cut_by_lines
    shown = JSON.parse(content("\n" * 5000))

    assert_includes 1900...2000, shown.count("\n")
    assert_includes shown, 'left out'
  end

  def test_a_long_text_of_a_hash_is_cut_in_its_place
    shown = JSON.parse(content({ cwd: '/', result: 'é"' * 100_000, exit_status: 3 }))

    assert_equal [%w[cwd result exit_status], '/', 3], [shown.keys, shown['cwd'], shown['exit_status']]
    assert_match(/\Aé".*left out.*"\z/m, shown['result'])
  end

  def test_a_hash_without_a_long_text_is_cut_as_its_json
    assert_match(/\A\{"list":\[0,.*left out.*9999\],"a":"b"\}\z/m, JSON.parse(content({ list: (0..9999).to_a, a: 'b' })))
  end

  def test_no_control_character_is_there_as_such
    text = "\e[31mred\u009b2J\u007f\u0000"

    assert_equal text, JSON.parse(content(text))
    [text, text * 9000, { text => text * 9000 }].each { |result| refute_match(/[\u0000-\u001f\u007f-\u009f]/, content(result)) }
  end

  def test_what_claims_to_be_json_and_is_not_is_no_json_for_the_model
    odd = RubyObjects::OddJson.new('no json')

    assert_equal odd.to_s, JSON.parse(content(odd))
    JSON.parse(content(RubyObjects::OddJson.new('{"a":' * 9000)))
  end

  def test_any_object_is_json_within_any_limits
    objects = RubyObjects.new(SEED)
    1000.times do
      result = objects.object
      [result, [result] * 300, { text: 'é' * 2500, odd: result }].each { |given| assert_within(given) }
    end
  end

  private

  def content(result, limits = {}) = Excerpt.new(result, limits).content

  def assert_within(given)
    json = content(given, SMALLEST)

    assert_predicate json, :valid_encoding?
    assert_operator json.bytesize, :<=, 2048, "seed #{SEED}"
    assert_operator json.scan(/\\./).count('\n'), :<, 20, "seed #{SEED}"
    JSON.parse(json)
  end
end
