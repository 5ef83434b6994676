# frozen_string_literal: true

require 'test_helper'
require 'support/ruby_objects'
require 'support/seed'

class JsonSafeTest < Minitest::Test
  JsonSafe = RindBridge::JsonSafe

  def test_what_json_can_say_stays_as_it_is
    value = { 'a' => [nil, true, 1 << 80, 1.5, 'é'], 'b' => {} }

    assert_equal value, JsonSafe.copy(value)
  end

  def test_what_json_has_no_word_for_becomes_the_text_that_ruby_prints
    assert_equal({ 'a' => 'NaN', 'b' => '-Infinity', 'c' => 'sym', '1' => '1/3', '' => '1970-01-01 00:00:00 UTC' },
                 JsonSafe.copy({ a: Float::NAN, b: -Float::INFINITY, c: :sym, 1 => 1/3r, nil => Time.at(0).utc }))
  end

  def test_an_object_is_what_its_to_json_says_when_that_is_json
    assert_equal({ 'x' => 1 }, JsonSafe.copy(RubyObjects::OddJson.new("{\n\"x\": 1}")))
    assert_equal 'no state', JsonSafe.copy(RubyObjects::TakesNoState.new)
  end

  def test_an_object_is_what_its_to_s_says_when_its_to_json_is_not_json
    odd = RubyObjects::OddJson.new('no json')

    assert_equal odd.to_s, JsonSafe.copy(odd)
  end

  def test_a_structure_inside_itself_ends_as_inspect_ends_it
    list = [1]
    list << list << { 'list' => list }

    assert_equal [1, '[...]', { 'list' => '[...]' }], JsonSafe.copy(list)
  end

  def test_the_same_structure_twice_is_there_twice
    shared = [1]

    assert_equal [[1], [1]], JsonSafe.copy([shared, shared])
  end

  def test_what_lies_too_deep_is_the_text_that_inspect_gives
    deep = 150.times.inject('bottom') { |inner, _| [inner] }
    copy = JsonSafe.copy(deep)
    depth = 0
    while copy.is_a?(Array)
      copy = copy.first
      depth += 1
    end

    assert_equal [JsonSafe::MAX_DEPTH, "#{'[' * 50}\"bottom\"#{']' * 50}"], [depth, copy]
  end

  def test_the_deepest_structure_is_named_instead_of_printed
    deep = 1_000_000.times.inject('bottom') { |inner, _| [inner] }

    assert_includes JSON.generate(JsonSafe.copy(deep), max_nesting: 0), '#<Array: not printable, SystemStackError>'
  end

  def test_what_cannot_be_printed_is_named
    mute = RubyObjects::RaisesInText.new

    assert_equal ['#<RubyObjects::RaisesInText: not printable, RuntimeError>'], JsonSafe.copy([mute])
    assert_equal ['#<BasicObject: not printable, NoMethodError>'], JsonSafe.copy([BasicObject.new])
  end

  def test_any_object_gives_json
    objects = RubyObjects.new(SEED)
    2000.times do
      copy = [JsonSafe.copy(objects.object)]

      assert_equal copy, JSON.parse(JSON.generate(copy, max_nesting: 0), max_nesting: 0)
    end
  end
end
