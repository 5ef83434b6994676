# frozen_string_literal: true

require 'bigdecimal'
require 'date'
require 'set'

# Draws Ruby objects as a tool might return them, and as none should: always the same ones for the same seed.
class RubyObjects
  Pair = Struct.new(:left, :right)
  HashChild = Class.new(Hash)
  TextChild = Class.new(String)
  OddJson = Struct.new(:json) { def to_json(*) = json }
  OddText = Struct.new(:text) { def to_s = text }
  RaisesInText = Class.new { def to_s = raise('no text') }
  RaisesInJson = Class.new { def to_json(*) = raise('no json') }
  RaisesInInspect = Class.new { def inspect = raise('no inspect') }
  TakesNoState = Class.new { def to_json = '"no state"' }

  CHARACTERS = [
    *"aZ09 \n\t\r\"\\/#@{}$<&'".chars, "\u0000", "\u001b", "\u007f", "\u0085", 'é', "e\u0301", "\u200b", "\u2028",
    "\ufeff", "\ud7ff", "\ue000", "\uffff", '界', '😀', "👨\u200d👩", "\u{10ffff}", "\u{30000}", '#{x}', '#$y', '#@z'
  ].freeze
  BAD_BYTES = ["\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xED\xA0\x80", "\xC0\xAF", "\x80"].freeze
  ENCODINGS = %w[UTF-16LE UTF-16BE UTF-16 UTF-32LE Shift_JIS EUC-JP ISO-2022-JP ISO-8859-1 Windows-1252 GB18030
                 Big5 ASCII-8BIT US-ASCII].freeze
  LIMITS = [4000, 4000, 100, 20, 10, 5, 4, 3, 2, 1, 0, -1, -5, 10**9].freeze
  NAMES = [nil, nil, 'grep', :grep, 'read_file', :read_file, 'Read_File', '', 42].freeze

  def initialize(seed)
    @random = Random.new(seed)
  end

  # Gives a result, a limit and a name.
  def call
    [object, pick(LIMITS), pick(NAMES)]
  end

  def object(depth = 0)
    case @random.rand(depth < 4 ? 14 : 9)
    when 0..2 then text
    when 3, 4 then number
    when 5 then pick([nil, true, false, :symbol, :"odd symbol\n", :é])
    when 6 then thing
    when 7 then @random.rand(9).zero? ? BasicObject.new : odd_thing
    when 8 then foreign_text
    when 9, 10 then Array.new(@random.rand(5)) { object(depth + 1) }
    else hash(depth)
    end
  end

  private

  def pick(list) = list[@random.rand(list.length)]

  def text
    made = Array.new(@random.rand(30)) { pick(CHARACTERS) }.join
    case @random.rand(8)
    when 0 then made * 200
    when 1 then made + pick(BAD_BYTES) + made
    when 2 then TextChild.new(made)
    when 3 then made.freeze
    else made
    end
  end

  # Converted where that is possible, else other bytes under the encoding's name.
  def foreign_text
    encoding = pick(ENCODINGS)
    return text.b.force_encoding(encoding) if @random.rand(3).zero?

    text.scrub.encode(encoding, invalid: :replace, undef: :replace)
  rescue EncodingError
    text.b.force_encoding(encoding)
  end

  def number
    pick([
           0, -1, 1 << 40, 1 << 80, -(1 << 63), 0.1, 1.0, -0.0, 1e15, 1e16, 1e-5, 1e20, 5e-324, 1.5e300,
           Float::NAN, Float::INFINITY, -Float::INFINITY, Rational(1, 3), Complex(1, -2), BigDecimal('0.1'),
           @random.rand, @random.rand(1 << 62), @random.rand * 10**@random.rand(40)
         ])
  end

  def thing
    pick([
           Time.at(0).utc, Date.new(2024, 2, 29), (1..3), ('a'..), /re\/x/i, Pair.new(1, text), Set[1, 2], String,
           RuntimeError.new(text), Process.clock_gettime(0).class, OddText.new(text), method(:puts).owner
         ])
  end

  def odd_thing
    case @random.rand(8)
    when 0..3 then pick([RaisesInText, RaisesInJson, RaisesInInspect, TakesNoState]).new
    when 4 then inside_itself
    when 5 then deep
    when 6 then OddJson.new(odd_json)
    else OddText.new(nil)
    end
  end

  def odd_json = pick(['{"a": 1}', "{\n\"a\":\n1}", 'no json', '', '{"a":1},"b":', nil, 42])

  def inside_itself
    pick([[1].tap { |list| list << list }, { 'a' => 1 }.tap { |hash| hash['me'] = hash },
          { content: [] }.tap { |hash| hash[:content] << hash }])
  end

  def deep
    wrap = pick([->(inner) { [inner] }, ->(inner) { { a: inner } }])
    pick([99, 100, 101, 200]).times.inject(1) { |inner, _| wrap.call(inner) }
  end

  def hash(depth)
    made = Array.new(@random.rand(4)) { [key, object(depth + 1)] }.to_h
    made[pick([:content, 'content'])] = object(depth + 1) if @random.rand(2).zero?
    made[pick([:content, 'content'])] = pick([nil, false, '', 'found']) if @random.rand(4).zero?
    dress(made)
  end

  def key = pick([:path, 'path', 1, nil, 1.5, :é, "bad\xFF", text, [1], Object])

  def dress(hash)
    case @random.rand(6)
    when 0 then HashChild.new.merge!(hash)
    when 1 then hash.freeze
    when 2 then Hash.new { |_, missing| "no #{missing}" }.merge!(hash)
    else hash
    end
  end
end
