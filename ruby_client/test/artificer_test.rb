# frozen_string_literal: true

require 'test_helper'
require 'support/ruby_objects'
require 'support/seed'

# The replaced method against the original, on the same objects.
class ArtificerTest < BridgeTest
  # The original contract.
  module Original
    def self.ui_preview(result, limit = 4000, name: nil)
      return result if name.to_s == 'read_file' && result.is_a?(Hash)

      text = result.is_a?(Hash) ? (result[:content] || result['content'] || result.to_json).to_s : result.to_s
      text.length <= limit ? text : text[0, [limit - 3, 0].max] + '...'
    end
  end

  OBJECTS = 3000

  def setup
    super
    @installed = Module.new do
      def self.ui_preview(_result, _limit = 4000, name: nil) = "not replaced, #{name}"
      def self.other = 'untouched'
    end
    RindBridge.install(@installed)
  end

  def teardown
    RindBridge.stop
    super
  end

  def test_generated_objects_give_what_the_original_gives_with_a_worker
    RindBridge.start(command: REAL_WORKER, home: @home, deadline: 30, preview_deadline: 30)

    assert_same_as_original
    assert_equal :ready, RindBridge.status[:state]
    assert_equal 0, RindBridge.status[:fallbacks]
  end

  def test_generated_objects_give_what_the_original_gives_without_a_worker
    RindBridge.start(command: NO_WORKER)

    assert_same_as_original
    assert_operator RindBridge.status[:fallbacks], :>, 0
  end

  def test_generated_objects_give_what_the_original_gives_in_a_locale_of_c
    skip 'this is the run in a locale of C' if ENV['BRIDGE_LOCALE_RUN']
    said = IO.popen({ 'LC_ALL' => 'C', 'BRIDGE_LOCALE_RUN' => '1' },
                    [RbConfig.ruby, '-w', '-I', LIB, '-I', __dir__, __FILE__, '-n', '/_a_worker/'], &:read)

    assert_match(/^2 runs, .* 0 failures, 0 errors/, said)
  end

  def test_what_this_ruby_prints_is_what_is_shown_whoever_replaced_its_printing
    RindBridge.start(command: REAL_WORKER, home: @home)
    with_replaced_printing do
      assert_equal 'Hash#to_json of somebody else', @installed.ui_preview({ a: 1 })
      assert_equal 'Array#inspect of somebody else', @installed.ui_preview({ content: [1] })
      done = RindBridge.tool_completed({ a: 1 }, name: 'bash')

      assert_equal 'Hash#to_json of somebody else', done.preview
      refute_predicate done, :degraded?
    end
  end

  def test_signature_and_arity_are_the_originals
    original = Original.method(:ui_preview)
    installed = @installed.method(:ui_preview)

    assert_equal original.arity, installed.arity
    assert_equal original.parameters, installed.parameters
    [[], [1, 2, 3]].each { |arguments| assert_raises(ArgumentError) { @installed.ui_preview(*arguments) } }
    assert_raises(ArgumentError) { @installed.ui_preview('text', nmae: 'grep') }
    assert_raises(ArgumentError) { @installed.ui_preview('text', nil) }
  end

  def test_nothing_else_of_the_artificer_is_replaced
    assert_equal 'untouched', @installed.other
  end

  def test_a_method_stays_as_visible_as_it_was
    RindBridge.start(command: NO_WORKER, logger: ->(_change) {})
    private_one = Class.new { class << self; def shown = ui_preview('text', 3); private def ui_preview(*) = 'old'; end }
    protected_one = Class.new { class << self; def shown = self.ui_preview('text', 3); protected def ui_preview(*) = 'old'; end }
    function = Module.new { module_function; def shown = ui_preview('text', 3); def ui_preview(*) = 'old' }
    one = Object.new.tap { |object| object.singleton_class.class_eval { def shown = ui_preview('text', 3); private def ui_preview(*) = '' } }
    [private_one, protected_one, one].each { |given| 2.times { assert_same given, RindBridge.install(given) } }

    assert_equal ['...'] * 4, [private_one, protected_one, RindBridge.install(function), one].map(&:shown)
    [private_one, protected_one, one].each { |given| assert_raises(NoMethodError) { given.ui_preview('text') } }
    assert_includes private_one.singleton_class.private_instance_methods, :ui_preview
    assert_includes protected_one.singleton_class.protected_instance_methods, :ui_preview
    assert_equal 'text', function.ui_preview('text')
  end

  def test_installing_twice_changes_nothing
    RindBridge.start(command: NO_WORKER)
    assert_same @installed, RindBridge.install(@installed)
    assert_equal 'te...', @installed.ui_preview('text that is long', 5)
  end

  private

  def assert_same_as_original
    objects = RubyObjects.new(SEED)
    OBJECTS.times do |number|
      result, limit, name = objects.call
      assert_equal_outcome(number, result, limit, name)
    end
  end

  def assert_equal_outcome(number, result, limit, name)
    where = "object #{number} of seed #{SEED}"
    expected = original(result, limit, name)
    shown = @installed.ui_preview(result, limit, name: name)
    case expected
    when :raised then assert_shown(shown, limit, where)
    when String then assert_equal(in_utf8(expected), shown, where)
    else assert_same(result, shown, where)
    end
  end

  # Where the original raises because of what it was to print, something is shown, within the limit.
  def assert_shown(shown, limit, where)
    assert_kind_of String, shown, where
    assert_predicate shown, :valid_encoding?, where
    assert_operator shown.length, :<=, [limit, 3].max, where
  end

  def original(result, limit, name)
    Original.ui_preview(result, limit, name: name)
  rescue StandardError, SystemStackError
    :raised
  end

  # The same text as a status frame can hold it; written without the client's own conversion.
  def in_utf8(text)
    return text.dup.force_encoding('UTF-8').scrub if %w[UTF-8 US-ASCII ASCII-8BIT].include?(text.encoding.name)

    text.encode('UTF-8', invalid: :replace, undef: :replace, replace: "\uFFFD")
  end

  def with_replaced_printing
    replace(Hash, :to_json) { |*| 'Hash#to_json of somebody else' }
    replace(Array, :inspect) { 'Array#inspect of somebody else' }
    Array.class_eval { alias_method :to_s, :inspect }
    yield
  ensure
    [[Hash, :to_json], [Array, :inspect]].each { |owner, name| restore(owner, name) }
    Array.class_eval { alias_method :to_s, :inspect }
  end

  def replace(owner, name, &body)
    owner.class_eval do
      alias_method :"before_#{name}", name
      define_method(name, &body)
    end
  end

  def restore(owner, name)
    owner.class_eval do
      remove_method name
      alias_method name, :"before_#{name}"
      remove_method :"before_#{name}"
    end
  end
end
