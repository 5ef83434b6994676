# frozen_string_literal: true

require 'test_helper'
require 'support/ruby_objects'
require 'support/seed'

class RequestTest < Minitest::Test
  Request = RindBridge::Request

  def test_arguments_are_a_hash_or_the_text_of_one
    given = { 'path' => 'é' }

    assert_same given, Request.arguments(given)
    assert_equal given, Request.arguments('{"path":"é"}')
    assert_equal given, Request.arguments('{"path":"é"}'.encode(Encoding::UTF_16LE))
    assert_equal given, Request.arguments('{"path":"é"}'.b)
  end

  def test_arguments_that_are_no_object_are_left_out
    [nil, '', 'ls -l', '[1]', '"text"', 'null', '{"path":', "{\"a\":\xFF}", "#{'[' * 200}#{']' * 200}", 7, [1],
     BasicObject.new].each { |args| assert_nil Request.arguments(args) }
  end

  def test_what_json_takes_goes_out_as_it_is
    assert_equal '"method":"m","params":{"result":{"b":1,"a":[1.0,null]}}}',
                 Request.body('m', { result: { b: 1, a: [1.0, nil] } })
  end

  def test_what_json_refuses_goes_out_as_a_safe_copy
    [Float::NAN, "\xFF", [].tap { |list| list << list }, 200.times.inject(1) { |inner, _| [inner] },
     RubyObjects::RaisesInJson.new].each { |value| assert_kind_of Hash, parsed(value) }
  end

  def test_bytes_without_an_encoding_go_out_as_their_text_without_a_warning_of_json
    assert_output('', '') do
      assert_equal '"method":"m","params":{"result":{"é":[1,"é"]}}}', Request.body('m', { result: { 'é'.b => [1, 'é'.b] } })
    end
  end

  def test_a_to_json_with_line_ends_stays_one_line
    body = Request.body('m', { result: RubyObjects::OddJson.new("{\n\"a\":\n1}") })

    refute_includes body, "\n"
    assert_equal({ 'a' => 1 }, JSON.parse("{#{body}").dig('params', 'result'))
  end

  def test_a_result_as_deep_as_ruby_writes_keeps_its_shape
    deep = 100.times.inject(1) { |inner, _| [inner] }

    assert_equal deep, parsed(deep).dig('params', 'result')
  end

  def test_any_object_gives_one_line
    objects = RubyObjects.new(SEED)
    2000.times { refute_includes Request.body('m', { result: objects.object }), "\n" }
  end

  private

  def parsed(value)
    JSON.parse("{#{Request.body('m', { result: value })}", max_nesting: 0)
  end
end
