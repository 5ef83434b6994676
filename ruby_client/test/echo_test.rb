# frozen_string_literal: true

require 'test_helper'

class EchoTest < Minitest::Test
  Echo = RindBridge::Echo

  # The contract was computed in a locale of UTF-8: in another, Ruby's own inspect escapes what the locale lacks.
  def setup
    @external = Encoding.default_external
    external(Encoding::UTF_8)
  end

  def teardown = external(@external)

  Support.contract('ui_preview_ruby.json').each do |example|
    define_method("test_contract: #{example['id']}") do
      result = eval(example['result_ruby']) # rubocop:disable Security/Eval -- the contract's cases are Ruby source
      name = example['name_ruby'] && eval(example['name_ruby']) # rubocop:disable Security/Eval
      shown = Echo.ui_preview(result, example.fetch('limit', Echo::LIMIT), name: name)

      example['expect_same_object'] ? assert_same(result, shown) : assert_equal(example['expect'], shown)
    end
  end

  ruby_3_4 = Gem::Version.new(RUBY_VERSION) >= Gem::Version.new('3.4')
  Support.contract('ui_preview.json').each do |example|
    define_method("test_contract of the wire: #{example['id']}") do
      params = example['params']
      shown = Echo.ui_preview(params['result'], params.fetch('limit', Echo::LIMIT), name: params['name'])

      expected = (ruby_3_4 && example['expect_ruby_3_4']) || example['expect']
      params['result'].is_a?(Hash) ? assert_same_json(expected, shown) : assert_equal(expected, shown)
    end
  end

  def test_a_structural_tool_is_named_by_the_setting
    hash = { ok: true }

    assert_same hash, Echo.ui_preview(hash, name: :patch_file, structural_tools: ['patch_file'])
    assert_equal '{"ok":true}', Echo.ui_preview(hash, name: :read_file, structural_tools: ['patch_file'])
  end

  def test_a_limit_that_is_no_number_is_refused_as_by_the_original
    assert_raises(ArgumentError) { Echo.ui_preview('text', nil) }
    assert_raises(ArgumentError) { Echo.ui_preview('text', '5') }
  end

  def test_a_limit_that_is_no_integer_cuts_as_the_original_does
    assert_equal '01...', Echo.ui_preview('0123456789', 5.5)
    assert_equal '0123456789', Echo.ui_preview('0123456789', Float::INFINITY)
    assert_equal '0123456789', Echo.ui_preview('0123456789', 2**80)
  end

  def test_a_hash_that_json_refuses_is_shown_with_what_json_can_say
    assert_equal '{"score":"NaN","name":"x"}', Echo.ui_preview({ score: Float::NAN, name: 'x' })
    assert_equal "{\"text\":\"\uFFFD\"}", Echo.ui_preview({ text: "\xFF" })
  end

  def test_a_hash_inside_itself_is_shown_as_inspect_would_mark_it
    hash = { name: 'x' }
    hash[:self] = hash

    assert_equal '{"name":"x","self":"{...}"}', Echo.ui_preview(hash)
  end

  def test_two_hundred_levels_are_shown
    deep = 200.times.inject('bottom') { |inner, _| { a: inner } }

    assert_includes Echo.ui_preview(deep), 'bottom'
  end

  def test_an_object_that_cannot_be_printed_is_named
    mute = Class.new { def to_s = raise('no') }
    Object.const_set(:MuteForEcho, mute)

    assert_equal '#<MuteForEcho: not printable, RuntimeError>', Echo.ui_preview(mute.new)
    assert_equal '#<MuteForEcho: not printable, RuntimeError>', Echo.ui_preview({ content: mute.new })
    assert_equal '#<BasicObject: not printable, NoMethodError>', Echo.ui_preview(BasicObject.new)
  end

  def test_an_object_whose_to_s_gives_no_text_is_named
    odd = Class.new { def to_s = 42 }

    assert_equal '#<a class without a name: not printable, TypeError>', Echo.ui_preview(odd.new)
  end

  def test_an_object_that_prints_without_end_is_named
    endless = Class.new { def to_s = "#{self} and on" }

    assert_match(/not printable, SystemStackError/, Echo.ui_preview(endless.new))
  end

  def test_a_binary_text_is_cut_in_bytes_as_ruby_counts_it_and_then_repaired
    binary = ('é' * 4000).b

    assert_equal "#{'é' * 1998}\uFFFD...", Echo.ui_preview(binary)
  end

  def test_the_cost_of_a_long_text_is_the_cost_of_its_head
    long = 'é' * 10_000_000
    allocated = GC.stat(:total_allocated_objects)
    head = Echo.head({ content: long }, 4000)

    assert_equal 4001, head.length
    assert_operator GC.stat(:total_allocated_objects) - allocated, :<, 50
  end

  def test_an_encoding_without_a_converter_is_shown_by_its_bytes
    assert_equal 'abc', Echo.ui_preview(String.new('abc', encoding: 'Emacs-Mule'))
  end

  private

  def external(encoding)
    verbose, $VERBOSE = $VERBOSE, nil
    Encoding.default_external = encoding
  ensure
    $VERBOSE = verbose
  end

  # The contract has the floats of json 2.6 (1.0e+15); later ones write the same numbers in other words (1e+15).
  def assert_same_json(expected, shown)
    return assert_equal(expected, shown) if expected == shown || 1e15.to_json == '1.0e+15'

    assert_equal JSON.parse(expected), JSON.parse(shown)
  end
end
