# frozen_string_literal: true

require 'test_helper'

class Utf8Test < Minitest::Test
  def test_valid_utf8_is_the_same_object
    text = 'é界😀'

    assert_same text, RindBridge::Utf8.of(text)
  end

  def test_bad_bytes_become_the_replacement_character
    assert_equal "a\uFFFDb\uFFFD", RindBridge::Utf8.of("a\xFFb\xE2\x82")
  end

  def test_bytes_without_a_meaning_are_read_as_utf8
    assert_equal 'é', RindBridge::Utf8.of('é'.b)
    assert_equal 'é', RindBridge::Utf8.of('é'.dup.force_encoding('US-ASCII'))
  end

  def test_other_encodings_are_converted
    %w[UTF-16LE UTF-16 UTF-32BE Shift_JIS EUC-JP ISO-2022-JP GB18030].each do |encoding|
      assert_equal '界', RindBridge::Utf8.of('界'.encode(encoding)), encoding
    end
    assert_equal 'é', RindBridge::Utf8.of('é'.encode('ISO-8859-1'))
  end

  def test_what_an_encoding_has_no_character_for_is_replaced
    assert_equal "\uFFFD", RindBridge::Utf8.of("\x81".dup.force_encoding('Windows-1252'))
    assert_equal "\uFFFDa", RindBridge::Utf8.of("\x00\xD8a\x00".dup.force_encoding('UTF-16LE'))
  end

  def test_every_encoding_of_this_ruby_gives_valid_utf8
    bytes = (0..255).map(&:chr).join.b
    Encoding.list.each do |encoding|
      made = RindBridge::Utf8.of(bytes.dup.force_encoding(encoding))

      assert_equal [Encoding::UTF_8, true], [made.encoding, made.valid_encoding?], encoding.name
    end
  end

  def test_a_frozen_text_is_not_touched
    text = "\xFF".b.freeze

    assert_equal "\uFFFD", RindBridge::Utf8.of(text)
    assert_equal Encoding::BINARY, text.encoding
  end
end
